/**
 * The example for TouchDesigner, run by Python beside a controller.
 */
import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { linksOf, repository } from "../support/documents.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import * as Received from "../support/Received.ts"
import { eventually } from "../support/waiting.ts"

const examples = `${repository}/scratchpad/engines`

describe("scratchpad/engines", () => {
  it("is documented completely on the page for engines", () => {
    const linked = linksOf("docs/engines.md").filter((link) => link.includes("scratchpad/engines/"))
    expect([...new Set(linked)].sort()).toEqual(
      readdirSync(examples).map((file) => `../scratchpad/engines/${file}`)
    )
  })

  it.scopedLive.skipIf(isMissing("python3"))(
    "has a Python client that shows each version, and keeps it with a message while the next is broken (skipped without Python)",
    () =>
      Effect.gen(function* () {
        const { folder, read, run, serveTables, write } = yield* makeProject
        const TABLES = yield* serveTables()
        const controller = yield* run(["start"], { TABLES })
        const first = yield* controller.logged(/New version (\S+):/)
        yield* controller.logged(/(Ready)/)
        const program = [
          `${examples}/content_folder.py`,
          `${folder}/downloads`,
          "museum/Objects.json",
          "0.05"
        ]
        const child = yield* Effect.acquireRelease(
          Effect.sync(() => spawn(pathOf("python3"), program, { stdio: ["ignore", "pipe", "ignore"] })),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const stdout = Received.from(child.stdout)
        const acknowledges = (pattern: RegExp) =>
          eventually(
            read("downloads/acks/screen-1.json").pipe(
              Effect.map((text) => pattern.test(text)),
              Effect.orElseSucceed(() => false)
            )
          )

        yield* stdout.until((text) => text.startsWith(`${first}: 2 records\n`))
        yield* acknowledges(new RegExp(`^\\{"versionId": "${first}"\\}$`))

        yield* write("tables/Objects.csv", "inventory,title\nA-1,Sextant\n")
        const second = yield* controller.logged(new RegExp(`New version (?!${first})(\\S+):`))
        yield* stdout.until((text) => text.includes(`${second}: 1 records\n`))
        yield* acknowledges(new RegExp(`^\\{"versionId": "${second}"\\}$`))

        yield* controller.signal("SIGKILL")
        yield* controller.ended
        const manifest = yield* read("downloads/manifest.json")
        yield* write("downloads/manifest.json", manifest.replaceAll(second, "20990101T000000Z"))
        yield* acknowledges(new RegExp(`^\\{"versionId": "${second}", "problem": "FileNotFoundError: `))
        yield* write("downloads/manifest.json", manifest)
        yield* acknowledges(new RegExp(`^\\{"versionId": "${second}"\\}$`))
        expect(existsSync(`${folder}/downloads/versions/${second}`)).toBe(true)
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
