/**
 * What `vitrine fleet` says at a hub, at a player, and where nothing reports.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { failureText } from "../../../src/layers/cli/terminal/log.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { pluginReport } from "../../../src/layers/fetching/pluginReport.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { serverSlice, wellPlayer } from "../../support/fleet.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { quickly, says } from "../../support/says.ts"

const services = ControllerServices.layer("persistent", undefined, {
  node: { id: "hub" },
  players: [{ id: "hall-3", label: "Hall 3" }]
})

/** A controller with a slice; what the command takes. */
const running = (plugin: string, slice: object) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
    const { addReport, updateSlice } = pluginsOf(yield* ControllerState)
    yield* updateSlice(plugin, () => slice)
    yield* addReport("content", pluginReport("content", { failingFor: "15 minutes" }))
    yield* IpcServer.make({ folder, stop: Effect.void })
    return ["--config", `${folder}/vitrine.config.mjs`]
  })

const platform = Layer.merge(services, NodeContext.layer)

const live = (
  title: string,
  test: Effect.Effect<void, unknown, Layer.Layer.Success<typeof platform> | Scope.Scope>
) => it.scopedLive(title, () => Effect.provide(test, platform))

const server = serverSlice({})

const player = () =>
  wellPlayer("hall-4", new Date().toISOString(), {
    node: { id: "hall-4", label: "Hall 4" },
    host: "box-4",
    screens: [{ id: "left", word: "showing" }]
  })

live(
  "vitrine fleet shows the players of a hub, also those that were never seen",
  Effect.gen(function* () {
    const args = yield* running("content-server", { ...server, players: [player()] })
    const [text = "", ...others] = yield* says("fleet", ...args)
    expect(others).toEqual([])
    expect(text.replace(/\d+ s/, "0 s").split("\n")).toEqual([
      "1 of 2 players are up to date; 1 never seen",
      "  player  state       version  last    screens and problems",
      "                               report",
      "· Hall 3  never seen           never",
      "✓ Hall 4  up to date  none     0 s     1 showing; not expected"
    ])
    const { hasAnswered, printed } = yield* quickly("fleet", { config: args[1] ?? "" })
    expect(hasAnswered).toBe(true)
    expect(printed.replace(/\d+ s/, "0 s")).toBe(text.replace(/\d+ s/, "0 s"))
    const [json = ""] = yield* says("fleet", "--json", ...args)
    expect(JSON.parse(json)).toMatchObject([
      { id: "hall-3", word: "never seen", isExpected: true },
      { id: "hall-4", name: "Hall 4", word: "up to date", lastReport: { host: "box-4" } }
    ])
  })
)

live(
  "vitrine fleet --check ends with 1 where a player has an error",
  Effect.gen(function* () {
    const closed = { code: "screen:closed", severity: "error", subject: "left", text: "It was closed" }
    const args = yield* running("content-server", { ...server, players: [player()] })
    const { updateSlice } = pluginsOf(yield* ControllerState)
    const statusWith = (problems: ReadonlyArray<object>) =>
      Effect.gen(function* () {
        yield* updateSlice("content-server", () => ({ ...server, players: [{ ...player(), problems }] }))
        yield* says("fleet", "--check", ...args)
        const status = process.exitCode
        process.exitCode = undefined
        return status
      })
    expect(yield* statusWith([])).toBe(0)
    expect(yield* statusWith([{ ...closed, severity: "warning" }])).toBe(0)
    expect(yield* statusWith([closed])).toBe(1)
    const mute = { name: "hall-4", until: new Date(Date.now() + 60_000).toISOString(), by: "anna@desk" }
    yield* updateSlice("mutes", () => ({ kind: "mutes", mutes: [mute] }))
    expect(yield* statusWith([closed])).toBe(0)
    const [text = ""] = yield* says("fleet", ...args)
    expect(text.replace(/\n +/g, " ")).toMatch(
      /^· Hall 4 .* not expected; It was closed; muted until [\d:-]+(?: [\d:]+)? by anna@desk$/m
    )
  })
)

const failing = (plugin: string, slice: object) =>
  Effect.gen(function* () {
    const args = yield* running(plugin, slice)
    const cause = yield* Effect.flip(Effect.sandbox(says("fleet", ...args)))
    return failureText(cause, false)
  })

live(
  "vitrine fleet explains how players report if the hub accepts no reports",
  Effect.gen(function* () {
    const text = yield* failing("content-server", server)
    expect(text).toContain("No players report to this machine. Here, give contentServer the option reports:")
  })
)

live(
  "vitrine fleet names the hub of a player",
  Effect.gen(function* () {
    const reports = { to: "http://hub.local:8730" }
    const text = yield* failing("content", { kind: "content", sources: {}, reports })
    expect(text).toContain('and reports to http://hub.local:8730. Run "vitrine fleet" there.')
  })
)
