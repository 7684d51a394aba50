/**
 * Two sources of JSON in a real controller, of which one dies.
 */
import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { listen } from "../../src/layers/http/Listen.ts"
import { operate } from "../support/operate.ts"
import { makeProject } from "../support/project.ts"

/** A server of a list, which answers with this status. */
const serve = Effect.gen(function* () {
  const answer = { status: 200, titles: ["One"] }
  const server = createServer((_, response) =>
    response
      .writeHead(answer.status, { "content-type": "application/json" })
      .end(JSON.stringify(answer.titles.map((title, index) => ({ id: `${index}`, title }))))
  )
  const { port } = yield* listen(server, { host: "127.0.0.1", port: 0 })
  return { answer, url: `http://127.0.0.1:${port}/list.json` }
})

it.scopedLive("a server that dies holds back only its own source, over a restart", () =>
  Effect.gen(function* () {
    const { run, vitrine, write } = yield* operate(makeProject)
    const [objects, tours] = [yield* serve, yield* serve]
    const source = (id: string, url: string) => `jsonSource({ id: "${id}", documents: { list: "${url}" } })`
    yield* write(
      "vitrine.config.ts",
      `import { content, defineConfig, jsonSource } from "vitrine"
export default defineConfig({
  plugins: [
    content({
      independent: true,
      fetchEvery: "1 hour",
      sources: [${source("objects", objects.url)}, ${source("tours", tours.url)}]
    })
  ]
})
`
    )
    const first = yield* run(["start"])
    yield* first.logged(/New version (\S+):/)
    yield* first.logged(/(Ready)/)
    tours.answer.status = 403
    objects.answer.titles.push("Two")
    const checked = yield* vitrine("check")
    expect(checked).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("A fetch makes a new version.")
    })
    const fetched = yield* vitrine("fetch")
    expect(fetched.status).toBe(1)
    const { kept, versionId } = JSON.parse(fetched.stdout)
    expect(kept).toMatchObject([{ sourceId: "tours" }])
    expect(fetched.stderr).toMatch(/tours: failed since .*, so its content stays as it is\. /)
    expect(fetched.stderr).toContain(`Version ${versionId} was published all the same.`)
    const old = `In version ${versionId}, the content of "tours" is from before `
    expect((yield* vitrine("diff")).stdout).toContain(old)
    expect((yield* vitrine("hold")).stdout).toContain(old)
    expect((yield* vitrine("resume")).stdout).toContain(old)
    expect((yield* vitrine("versions")).stdout).toMatch(
      /tours \(1 record, .*, from before .*, when its fetches began to fail\)/
    )
    const status = yield* vitrine("status")
    const failing = /Source "tours" has failed since \S+ \((\d+) s ago\)/
    expect(status.stdout).toMatch(failing)
    yield* vitrine("stop")
    const second = yield* run(["start"])
    yield* second.logged(/(Source "tours" failed)/)
    const [, seconds] = failing.exec((yield* vitrine("status")).stdout) ?? []
    expect(Number(seconds)).toBeGreaterThan(Number(failing.exec(status.stdout)?.[1]))
    tours.answer.status = 200
    tours.answer.titles.push("Two")
    expect((yield* vitrine("fetch")).status).toBe(0)
    yield* second.logged(/(Source "tours" works again)/)
    expect((yield* vitrine("status")).stdout).not.toContain("has failed since")
  })
)
