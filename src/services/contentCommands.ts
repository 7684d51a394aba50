/**
 * The commands of a content: their fields, beside `type`, and their results.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"
import { AckAnswer, AskedScreen } from "./AskedScreen.ts"
import { ContentCheck } from "./ContentCheck.ts"
import { ContentDiff } from "./ContentDiff.ts"
import { FetchOutcome } from "./ContentEvents.ts"
import { ContentSample } from "./ContentSample.ts"
import { AckDetails, HoldOutcome, ManifestState, Verification, VersionsReport } from "./VersionStore.ts"
import { Warning } from "./Warning.ts"

const text = optional(Schema.String)

/** Who asks, for people, and for which version. */
const OfVersion = Schema.Struct({ by: text, versionId: text })

/** The commands of the content with this name. */
export const contentCommands = (content: string) => ({
  fetch: { type: `${content}.fetch`, fields: Schema.Struct({}), success: FetchOutcome },
  check: {
    type: `${content}.check`,
    fields: Schema.Struct({ source: text }),
    success: Schema.Union(ContentCheck, ContentSample)
  },
  accept: {
    type: `${content}.accept`,
    fields: Schema.Struct({ code: Schema.String, subject: Schema.String, by: text }),
    success: Schema.Struct({ accepted: Schema.Array(Warning) })
  },
  "manifest.read": {
    type: `${content}.manifest.read`,
    fields: Schema.Struct({}),
    success: ManifestState
  },
  ack: {
    type: `${content}.ack`,
    fields: Schema.Struct({
      consumerId: Schema.String,
      versionId: Schema.String,
      /** The ids of actions in earlier answers, for a screen that confirms them. */
      done: optional(Schema.Array(Schema.String)),
      ...AckDetails.fields
    }),
    success: Schema.NullOr(AckAnswer)
  },
  keep: {
    type: `${content}.keep`,
    fields: Schema.Struct({ versionId: Schema.String }),
    success: Schema.Null
  },
  verify: {
    type: `${content}.verify`,
    fields: Schema.Struct({ versionId: text }),
    success: Verification
  },
  versions: { type: `${content}.versions`, fields: Schema.Struct({}), success: VersionsReport },
  diff: {
    type: `${content}.diff`,
    fields: Schema.Struct({ from: text, to: text }),
    success: ContentDiff
  },
  rollback: { type: `${content}.rollback`, fields: OfVersion, success: HoldOutcome },
  hold: {
    type: `${content}.hold`,
    fields: Schema.Struct({ by: text, until: text }),
    success: HoldOutcome
  },
  release: { type: `${content}.release`, fields: OfVersion, success: HoldOutcome },
  resume: { type: `${content}.resume`, fields: Schema.Struct({ by: text }), success: HoldOutcome },
  screen: { type: `${content}.screen`, fields: AskedScreen, success: Schema.Null }
})

type Commands = ReturnType<typeof contentCommands>

/**
 * The commands of a content named `content`, by their `type`.
 *
 * @since 0.1.0
 * @category models
 */
export type BuiltInCommands = {
  readonly [Name in keyof Commands as `content.${Name}`]: {
    readonly fields: Commands[Name]["fields"]["Type"]
    readonly result: Commands[Name]["success"]["Type"]
  }
}
