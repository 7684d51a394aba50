/**
 * Registers the commands of the content plugin, `content.fetch`, `content.ack`, `content.manifest.read`,
 * `content.keep`, `content.check`, `content.verify`, `content.versions`, `content.diff`, `content.rollback`,
 * `content.hold`, `content.release`, `content.resume` and `content.screen`; the name may differ from `content`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { optional } from "../../internal/schemas.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import type { Content, FetchError } from "../../services/Content.ts"
import { type ContentCheck, NotFetchedHere } from "../../services/ContentCheck.ts"
import { AskedScreen, type ContentCommands } from "../../services/ContentCommands.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeComparing } from "../comparing/makeComparing.ts"
import { makeScreenActions } from "../screens/screenActions.ts"
import { zoneOf } from "../status/openingHours.ts"
import { ActiveVersion } from "./ActiveVersion.ts"
import type { Report } from "./contentState.ts"
import * as Undo from "./Undo.ts"

const text = optional(Schema.String)

const flag = optional(Schema.Boolean)

/** How much of a reason is logged, in characters. The reason has the name of the screen in it. */
const maxReason = 300

export interface Fetching extends Pick<Content["Type"], "fetch"> {
  /** Missing if versions are copied. */
  readonly check: Effect.Effect<ContentCheck, FetchError> | undefined
  /** As `check`, for one source. */
  readonly sample: ((sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>) | undefined
  /** Runs after each ack. */
  readonly acknowledged: Effect.Effect<void>
  readonly report: Report
}

type Services = VersionStore | ActiveVersion

/** Gives a function that registers commands of the content with this name. */
const registering = Effect.fnUntraced(function* (name: string) {
  const commands = yield* CommandBus
  const services = Context.pick(VersionStore, ActiveVersion)(yield* Effect.context<Services>())
  return <Type extends keyof ContentCommands, Encoded, E>(
    type: Type,
    fields: Schema.Schema<ContentCommands[Type]["fields"], Encoded>,
    run: (
      fields: ContentCommands[Type]["fields"]
    ) => Effect.Effect<ContentCommands[Type]["result"], E, Services>
  ) =>
    commands.register({
      type: `${name}.${type}`,
      fields,
      run: (fields) => Effect.provide(run(fields), services)
    })
})

/** Registers all commands until the scope ends. */
export const registerCommands = Effect.fnUntraced(function* (
  name: string,
  { acknowledged, check, fetch, report, sample }: Fetching
) {
  const register = yield* registering(name)
  const store = yield* VersionStore
  const screenActions = yield* makeScreenActions(name, report)
  const warnOfScreen = makeWarnOnce((reason) => `A screen is not listed: ${printableLine(reason, maxReason)}`)
  yield* register("fetch", Schema.Struct({}), () => fetch)
  yield* register(
    "check",
    Schema.Struct({ source: text }),
    ({ source }): Effect.Effect<ContentCheck | ContentSample, FetchError | NotFetchedHere | NoSuchSource> =>
      (source === undefined ? check : sample?.(source)) ?? new NotFetchedHere()
  )
  yield* register("manifest.read", Schema.Struct({}), () => store.manifest)
  yield* register(
    "ack",
    Schema.Struct({
      consumerId: Schema.String,
      versionId: Schema.String,
      problem: text,
      renewMs: optional(Schema.Positive),
      visible: flag,
      drawing: flag,
      runId: text,
      navigated: flag,
      closing: flag
    }),
    ({ consumerId, versionId, ...details }) =>
      store.acknowledge(consumerId, versionId, details).pipe(
        Effect.tapErrorTag("vitrine/InvalidConsumerId", ({ message }) => warnOfScreen(message)),
        Effect.tapErrorTag("vitrine/TooManyLeases", ({ message }) => warnOfScreen(message)),
        Effect.zipRight(acknowledged),
        Effect.zipRight(
          details.closing === true ? Effect.succeed(undefined) : screenActions.answer(consumerId)
        )
      )
  )
  yield* register("keep", Schema.Struct({ versionId: Schema.String, still: flag }), ({ still, versionId }) =>
    store.keep(versionId, still)
  )
  yield* register("screen", AskedScreen, screenActions.ask)
  yield* registerOnDisk(name)
})

/** Registers the commands that need only the versions on disk, until the scope ends. */
export const registerOnDisk = Effect.fnUntraced(function* (name: string) {
  const register = yield* registering(name)
  const store = yield* VersionStore
  yield* register("verify", Schema.Struct({ versionId: text }), ({ versionId }) => store.verify(versionId))
  const { diff, withChanges } = yield* makeComparing
  yield* register("versions", Schema.Struct({}), () => Effect.flatMap(Undo.versions, withChanges))
  yield* register("diff", Schema.Struct({ from: text, to: text }), diff)
  yield* register("rollback", Schema.Struct({ by: text, versionId: text }), Undo.rollback)
  const { hours } = (yield* (yield* ControllerState).state).system
  yield* register("hold", Schema.Struct({ by: text, until: text }), Undo.hold(zoneOf(hours)))
  yield* register("release", Schema.Struct({ by: text, versionId: text }), Undo.release)
  yield* register("resume", Schema.Struct({ by: text }), Undo.resume)
})
