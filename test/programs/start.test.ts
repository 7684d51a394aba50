/**
 * A controller from its start to its end, as a technician sees it.
 */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { operate } from "../support/operate.ts"
import { makeProject } from "../support/project.ts"

it.scopedLive("a running controller has a status, fetches on request, and can be stopped once", () =>
  Effect.gen(function* () {
    const { folder, read, run, serveTables, vitrine, write } = yield* operate(makeProject)
    const config = (yield* read("vitrine.config.ts"))
      .replace("1 second", "1 hour")
      .replace("plugins:", 'node: { id: "hall-3" },\n  plugins:')
    yield* write("vitrine.config.ts", `setInterval(() => {}, 1e6)\n${config}`)
    const TABLES = yield* serveTables()
    const controller = yield* run(["start"], { TABLES })
    const versionId = yield* controller.logged(/New version (\S+):/)

    const { stdout: status } = yield* vitrine("status")
    expect(status).toMatch(/^OK\n\nController {2}hall-3, running since \d\d:\d\d:\d\d \((?:now|\d+ s ago)\)/)
    expect(status).toContain(`  Active version  ${versionId}\n`)
    expect(status).not.toContain("\u001b")
    const json = JSON.parse((yield* vitrine("status", "--json")).stdout)
    expect(json.sections.map(({ name }: { name: string }) => name)).toEqual(["content", "http-transport"])

    const fetched = yield* vitrine("fetch")
    expect(fetched).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(
        /^\S+ {2}info {3}Asking the controller that runs here \(process \d+\)\n[\s\S]*museum: done, 2 records/
      )
    })
    expect(JSON.parse(fetched.stdout)).toMatchObject({ changed: false, versionId, records: 2 })

    const second = yield* vitrine("start")
    expect(second).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/A controller is already running here \(process \d+; .*vitrine stop/)
    })

    expect((yield* vitrine("stop")).stdout).toMatch(/^The controller has ended \(process \d+\)\.\n$/)
    expect(yield* controller.ended).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/Stopping\n$/)
    })
    expect(yield* vitrine("stop")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        `No controller is running here: nothing listens at ${folder}/.vitrine/controller.sock. "vitrine start" starts one.`
      )
    })
    // A fetch without it does not wait for what the configuration has left open, either.
    const alone = yield* run(["fetch"], { TABLES })
    expect(yield* alone.ended).toMatchObject({ status: 0 })
  })
)
