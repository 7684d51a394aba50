/**
 * The commands of the content plugin: `content.fetch`, `content.ack`, `content.manifest.read`, `content.keep`,
 * `content.check`, `content.verify`, `content.versions`, `content.diff`, `content.rollback`, `content.hold`, `content.release` and
 * `content.resume`, or those of another name.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CommandBus } from "../../services/CommandBus.ts"
import type { Content, FetchError } from "../../services/Content.ts"
import { type ContentCheck, NotFetchedHere } from "../../services/ContentCheck.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeComparing } from "../comparing/makeComparing.ts"
import type { Undo } from "./undo.ts"

/** Who asks, for people. */
const by = Schema.optionalWith(Schema.String, { exact: true })

const versionId = Schema.optionalWith(Schema.String, { exact: true })

const flag = Schema.optionalWith(Schema.Boolean, { exact: true })

export interface Fetching extends Pick<Content["Type"], "fetch"> {
  /** Missing where versions are copied. */
  readonly check?: Effect.Effect<ContentCheck, FetchError>
  /** As `check`, of one source. */
  readonly sample?: (sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>
  /** Run after each ack. */
  readonly acknowledged: Effect.Effect<void>
}

/** Until the scope ends. */
export const registerCommands = Effect.fnUntraced(function* (
  name: string,
  { acknowledged, check, fetch, sample }: Fetching,
  undo: Undo
) {
  const commands = yield* CommandBus
  const store = yield* VersionStore
  yield* commands.register({ type: `${name}.fetch`, fields: Schema.Struct({}), run: () => fetch })
  yield* commands.register({
    type: `${name}.check`,
    fields: Schema.Struct({ source: Schema.optionalWith(Schema.String, { exact: true }) }),
    run: ({
      source
    }): Effect.Effect<ContentCheck | ContentSample, FetchError | NotFetchedHere | NoSuchSource> =>
      (source === undefined ? check : sample?.(source)) ?? new NotFetchedHere()
  })
  yield* commands.register({
    type: `${name}.manifest.read`,
    fields: Schema.Struct({}),
    run: () => store.manifest
  })
  yield* commands.register({
    type: `${name}.ack`,
    fields: Schema.Struct({
      consumerId: Schema.String,
      versionId: Schema.String,
      problem: Schema.optionalWith(Schema.String, { exact: true }),
      renewMs: Schema.optionalWith(Schema.Positive, { exact: true }),
      visible: flag,
      drawing: flag,
      closing: flag
    }),
    run: ({ consumerId, versionId, ...details }) =>
      Effect.zipLeft(store.acknowledge(consumerId, versionId, details), acknowledged)
  })
  yield* commands.register({
    type: `${name}.keep`,
    fields: Schema.Struct({
      versionId: Schema.String,
      still: flag
    }),
    run: ({ still, versionId }) => store.keep(versionId, still)
  })
  yield* registerOnDisk(name, undo)
})

/** Those that need the versions on disk and nothing else, until the scope ends. */
export const registerOnDisk = Effect.fnUntraced(function* (name: string, undo: Undo) {
  const commands = yield* CommandBus
  const store = yield* VersionStore
  yield* commands.register({
    type: `${name}.verify`,
    fields: Schema.Struct({ versionId }),
    run: ({ versionId }) => store.verify(versionId)
  })
  const { diff, withChanges } = yield* makeComparing
  yield* commands.register({
    type: `${name}.versions`,
    fields: Schema.Struct({}),
    run: () => Effect.flatMap(undo.versions, withChanges)
  })
  yield* commands.register({
    type: `${name}.diff`,
    fields: Schema.Struct({
      from: Schema.optionalWith(Schema.String, { exact: true }),
      to: Schema.optionalWith(Schema.String, { exact: true })
    }),
    run: diff
  })
  yield* commands.register({
    type: `${name}.rollback`,
    fields: Schema.Struct({ by, versionId }),
    run: undo.rollback
  })
  yield* commands.register({ type: `${name}.hold`, fields: Schema.Struct({ by }), run: undo.hold })
  yield* commands.register({
    type: `${name}.release`,
    fields: Schema.Struct({ by, versionId }),
    run: undo.release
  })
  yield* commands.register({ type: `${name}.resume`, fields: Schema.Struct({ by }), run: undo.resume })
})
