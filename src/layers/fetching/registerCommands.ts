/**
 * Registers the commands of the content plugin, `content.fetch`, `content.ack`, `content.manifest.read`,
 * `content.keep`, `content.check`, `content.accept`, `content.verify`, `content.versions`, `content.diff`,
 * `content.rollback`, `content.hold`, `content.release`, `content.resume` and `content.screen`; the name may differ from
 * `content`.
 */

import * as Effect from "effect/Effect"
import { printableLine } from "../../internal/printable.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { Content, FetchError } from "../../services/Content.ts"
import { type ContentCheck, NotFetchedHere } from "../../services/ContentCheck.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { contentCommands } from "../../services/contentCommands.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeComparing } from "../comparing/makeComparing.ts"
import type { Screens } from "../leases/Consumers.ts"
import { define } from "../memory/definedCommands.ts"
import { makeScreenActions } from "../screens/screenActions.ts"
import { zoneOf } from "../status/openingHours.ts"
import type { acceptWarning } from "./acceptWarning.ts"
import type { Report } from "./Provider.ts"
import * as Undo from "./Undo.ts"

/** How much of a reason is logged, in characters. The reason has the name of the screen in it. */
const maxReason = 300

export interface Fetching extends Pick<Content["Type"], "fetch"> {
  readonly accept: ReturnType<typeof acceptWarning>
  /** Missing if versions are copied. */
  readonly check: Effect.Effect<ContentCheck, FetchError> | undefined
  /** As `check`, for one source. */
  readonly sample: ((sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>) | undefined
  readonly acknowledged: Screens["acknowledged"]
  readonly report: Report
}

/** Registers all commands until the scope ends. */
export const registerCommands = Effect.fnUntraced(function* (
  name: string,
  { accept, acknowledged, check, fetch, report, sample }: Fetching
) {
  const commands = contentCommands(name)
  const store = yield* VersionStore
  const screenActions = yield* makeScreenActions(name, report)
  const warnOfScreen = makeWarnOnce((reason) => `A screen is not listed: ${printableLine(reason, maxReason)}`)
  yield* define(commands.fetch).register(() => fetch)
  yield* define(commands.check).register(
    ({ source }): Effect.Effect<ContentCheck | ContentSample, FetchError | NotFetchedHere | NoSuchSource> =>
      (source === undefined ? check : sample?.(source)) ?? new NotFetchedHere()
  )
  yield* define(commands.accept).register(accept)
  yield* define(commands["manifest.read"]).register(() => store.manifest)
  yield* define(commands.ack).register(({ consumerId, done, versionId, ...details }) =>
    store.acknowledge(consumerId, versionId, details).pipe(
      Effect.tapErrorTag("vitrine/InvalidConsumerId", ({ message }) => warnOfScreen(message)),
      Effect.tapErrorTag("vitrine/TooManyLeases", ({ message }) => warnOfScreen(message)),
      Effect.flatMap(Effect.transposeMapOption(acknowledged)),
      Effect.zipRight(screenActions.answer(consumerId, { ...details, done }))
    )
  )
  yield* define(commands.keep).register(({ versionId }) => Effect.as(store.keep(versionId), null))
  yield* define(commands.screen).register((asked) => Effect.as(screenActions.ask(asked), null))
  yield* registerWithChanges(name)
})

/** Registers the commands that need only the versions on disk, until the scope ends. */
export const registerOnDisk = Effect.fnUntraced(function* (name: string) {
  yield* registerUndo(name)
  yield* define(contentCommands(name).versions).register(() => Undo.versions)
})

/** The same commands for a running controller: its list of versions has their latest changes, which it keeps. */
export const registerWithChanges = Effect.fnUntraced(function* (name: string) {
  const { withChanges } = yield* registerUndo(name)
  yield* define(contentCommands(name).versions).register(() => Effect.flatMap(Undo.versions, withChanges))
})

/** Registers all of them except the list of versions. */
const registerUndo = Effect.fnUntraced(function* (name: string) {
  const commands = contentCommands(name)
  const store = yield* VersionStore
  yield* define(commands.verify).register(({ versionId }) => store.verify(versionId))
  const comparing = yield* makeComparing
  yield* define(commands.diff).register(comparing.diff)
  yield* define(commands.rollback).register(Undo.rollback)
  const { hours } = (yield* (yield* ControllerState).state).system
  yield* define(commands.hold).register(Undo.hold(zoneOf(hours)))
  yield* define(commands.release).register(Undo.release)
  yield* define(commands.resume).register(Undo.resume)
  return comparing
})
