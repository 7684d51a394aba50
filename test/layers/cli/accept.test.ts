/**
 * `vitrine accept`, with a controller in this process.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import type { Warning } from "../../../src/services/Warning.ts"
import { fetch, services } from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"
import { says } from "../../support/says.ts"

const warnings = [
  { code: "gone:document", subject: "rooms", text: "Rooms are gone" },
  { code: "file:missing", subject: "objects/big picture", text: "bell.png is not there" },
  { code: "content:more", subject: "", text: "There are 3 more warnings." }
]

/** Gives the warnings that nobody has accepted. */
const sourceOf = (id: string, accepted: Array<Warning>): ContentSource => ({
  id,
  accept: (warning) => Effect.sync(() => void accepted.push(warning)),
  fetch: () =>
    Effect.succeed({
      fingerprint: "",
      records: 0,
      bytes: 0,
      warnings: warnings.filter(({ code }) => accepted.every((one) => one.code !== code))
    })
})

it.scopedLive("vitrine accept lists the warnings that can be accepted, and ends one in the status", () =>
  Effect.gen(function* () {
    const accepted: Array<Warning> = []
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
    const stranger: ContentSource = {
      id: "stranger",
      fetch: () => Effect.succeed({ fingerprint: "", records: 0, bytes: 0, warnings: ["a note"] })
    }
    yield* Content.fromSources({}, [sourceOf("museum", accepted), stranger])
    yield* IpcServer.make({ folder, stop: Effect.void })
    yield* fetch
    const config = ["--config", `${folder}/vitrine.config.mjs`]
    const accept = (...args: ReadonlyArray<string>) => says("accept", ...config, ...args)
    const status = Effect.map(says("status", ...config), ([text]) => text)

    expect(yield* status).toContain(
      '  ! Source "museum": bell.png is not there\n    vitrine accept file:missing "museum/objects/big picture"\n'
    )
    expect(yield* accept()).toEqual([
      'vitrine accept gone:document museum/rooms\n  Source "museum": Rooms are gone\n' +
        'vitrine accept file:missing "museum/objects/big picture"\n  Source "museum": bell.png is not there'
    ])
    for (const wrong of [["gone:document"], ["gone:document", "museum"], ["content:more", "museum"]]) {
      expect(String(yield* Effect.flip(accept(...wrong)))).toContain(
        `There is no warning ${wrong.join(" ")}. There are: gone:document museum/rooms, file:missing "museum/objects/big picture".`
      )
    }
    expect(yield* accept("gone:document", "museum/rooms", "--by", "anna")).toEqual([
      'Accepted: Source "museum": Rooms are gone'
    ])
    expect(accepted).toEqual([warnings[0]])
    expect(yield* status).not.toContain("Rooms are gone")
    yield* fetch
    expect(yield* status).not.toContain("Rooms are gone")
    expect(yield* status).toContain("bell.png is not there")
  }).pipe(withLog([]), Effect.provide(services("persistent")))
)
