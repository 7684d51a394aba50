/**
 * `vitrine mute`, with a controller in this process.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Mutes from "../../../src/layers/alerts/Mutes.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { says } from "../../support/says.ts"

const platform = Layer.merge(
  ControllerServices.layer("persistent", undefined, { node: { id: "hub" } }),
  NodeContext.layer
)

it.scopedLive("vitrine mute starts, lists and ends mutes, and prints how many problems they match", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
    const { updateSlice } = pluginsOf(yield* ControllerState)
    yield* updateSlice("lamp", () => ({
      problems: [{ code: "lamp:broken", severity: "error", subject: "left", text: "The lamp is broken" }]
    }))
    yield* Mutes.make()
    yield* IpcServer.make({ folder, stop: Effect.void })
    const mute = (...args: ReadonlyArray<string>) =>
      says("mute", "--config", `${folder}/vitrine.config.mjs`, ...args)
    expect(yield* mute()).toEqual(["Nothing is muted."])
    const line = expect.stringMatching(/left, until .*\d\d:\d\d:\d\d \(in .*\) by anna: painting$/)
    expect(yield* mute("left", "--until", "2 hours", "--by", "anna", "--why", "painting")).toEqual([
      line,
      "There is 1 such problem now."
    ])
    expect(yield* mute()).toEqual([line])
    expect((yield* says("status", "--config", `${folder}/vitrine.config.mjs`))[0]).toMatch(
      /^OK\n {2}· The lamp is broken \(muted until .* by anna: painting\)$/m
    )
    expect((yield* mute("lft", "--until", "1 hour"))[1]).toBe(
      "There is no problem of this name now. Problems are: left."
    )
    expect(yield* mute("--end", "left")).toEqual(["No longer muted: left"])
    const messageOf = (...args: ReadonlyArray<string>) =>
      Effect.map(Effect.flip(mute(...args)), (error) => String(error))
    expect(yield* messageOf("--end", "left")).toContain(
      'Nothing is muted by the name "left". Muted names: lft.'
    )
    expect(yield* messageOf("left")).toContain("Say until when, for example --until 18:00")
    expect(yield* messageOf("--until", "18:00", "--why", "painting")).toContain("Name what is muted")
    expect(yield* messageOf("left", "--until", "soon")).toContain('No time or duration: "soon"')
    expect(yield* messageOf("left", "--until", "31 days")).toContain(
      "Not muted: the mute must end in the next 30 days"
    )
    expect(yield* messageOf("left", "--until", "2020-01-01T00:00")).toContain("Not muted")
  }).pipe(withLog([]), Effect.provide(platform))
)
