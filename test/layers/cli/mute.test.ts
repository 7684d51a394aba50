/**
 * `vitrine mute`, with a controller in this process.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Mutes from "../../../src/layers/alerts/mutes.ts"
import { endOf } from "../../../src/layers/cli/mute.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withLog } from "../../support/logged.ts"
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
    const { updateSlice } = yield* ControllerState
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
      'Nothing of the name "left" is muted. Muted are: lft.'
    )
    expect(yield* messageOf("left")).toContain("Say until when, for example --until 18:00")
    expect(yield* messageOf("left", "--until", "soon")).toContain('No time or duration: "soon"')
    expect(yield* messageOf("left", "--until", "31 days")).toContain(
      "Not muted: it must end in the next 30 days"
    )
    expect(yield* messageOf("left", "--until", "2020-01-01T00:00")).toContain("Not muted")
  }).pipe(withLog([]), Effect.provide(platform))
)

describe("the end of a mute", () => {
  const now = new Date(2026, 10, 25, 17, 30).getTime()

  it.each([
    ["18:00", new Date(2026, 10, 25, 18, 0)],
    ["17:30", new Date(2026, 10, 26, 17, 30)],
    ["9:05", new Date(2026, 10, 26, 9, 5)],
    ["2 hours", new Date(2026, 10, 25, 19, 30)],
    ["1 day", new Date(now + 86_400_000)],
    ["2026-12-01T09:00", new Date(2026, 11, 1, 9, 0)],
    ["2026-12-01T09:00Z", new Date("2026-12-01T09:00:00.000Z")]
  ] as const)("may be %s", (text, end) => {
    expect(Option.getOrUndefined(endOf(text, now))).toEqual(end)
  })

  it.each([
    "24:00",
    "18",
    "2",
    "soon",
    "",
    "Infinity",
    "2026-13-45T00:00",
    "2026-02-30T09:00",
    "1e300 days",
    "-"
  ])("may not be %j", (text) => expect(endOf(text, now)).toEqual(Option.none()))

  it.prop("is a date or nothing, whatever is given", [FastCheck.string()], ([text]) => {
    expect(Option.match(endOf(text, now), { onNone: () => "Z", onSome: (end) => end.toISOString() })).toMatch(
      /Z$/
    )
  })
})
