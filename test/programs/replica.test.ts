/**
 * A hub and a replica of it, as an operator runs them.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readActive } from "../support/hub.ts"
import { makeProject } from "../support/project.ts"
import { replicaProject } from "../support/replicaProject.ts"

it.scopedLive("a replica shows the changes of its hub", () =>
  Effect.gen(function* () {
    const hub = yield* makeProject
    yield* hub.write(
      "vitrine.config.ts",
      (yield* hub.read("vitrine.config.ts"))
        .replace("import { content,", "import { content, contentServer,")
        .replace("httpTransport({", "contentServer({ port: 0 }), httpTransport({")
    )
    const TABLES = yield* hub.serveTables()
    const controller = yield* hub.run(["start"], { TABLES })
    const HUB = yield* controller.logged(/Content server on (http:\S+): /)
    const versionId = yield* controller.logged(/New version (\S+):/)

    const { downloads, run } = yield* replicaProject
    const replica = yield* run(["start"], { HUB })
    expect(yield* replica.logged(/New version (\S+): 2 records/)).toBe(versionId)
    yield* hub.write("tables/Objects.csv", "inventory,title\nA-1,Sextant\n")
    const next = yield* replica.logged(/New version (\S+): 1 record,/)
    expect(yield* readActive(downloads)).toEqual(yield* readActive(`${hub.folder}/downloads`))
    expect((yield* readActive(downloads)).files["museum/Objects.json"]).toContain("Sextant")

    yield* controller.signal("SIGKILL")
    yield* replica.logged(
      /warn {3}Fetch failed, content stays as it is\. Cannot copy from .*Check that the hub runs/
    )
    const { stdout } = yield* Effect.flatMap(run(["status"]), ({ ended }) => ended)
    expect(stdout).toContain(`Active version  ${next}`)
    expect(stdout).toMatch(/Copied from +http:\S+ at .*: failed: the connection/)
  }).pipe(Effect.provide(NodeContext.layer))
)
