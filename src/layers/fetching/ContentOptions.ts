/**
 * The options of the content plugin.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { fileListName } from "../../files/FileList.ts"
import { fileKey } from "../../files/fileName.ts"
import type { DurationConfig } from "../../internal/DurationConfig.ts"
import {
  decodeOptions,
  expects,
  expectsSecret,
  needsEffect3,
  omittable,
  optional
} from "../../internal/Options.ts"
import { duration, durationWithin } from "../../internal/optionSchemas.ts"
import type { ContentSourceDefinition } from "../../services/ContentSource.ts"
import { folder, retentionOptions } from "../versions/VersionStoreDisk.ts"

const isDefinition = (value: unknown): value is ContentSourceDefinition =>
  Predicate.isRecord(value) && Array.isArray(value.issues) && Predicate.isObject(value.make)

/** A source. Mistakes in its own options are reported at its place in the array. */
const source = expectsSecret(Schema.declare(isDefinition), "a source, as tableSource({ … }) makes it").pipe(
  Schema.filter(({ issues, make }) =>
    Effect.isEffect(make)
      ? issues.map(({ message, path }) => ({ path: path === "" ? [] : [path], message }))
      : [{ path: ["make"], message: needsEffect3("an Effect") }]
  )
)

const sources = expectsSecret(Schema.Array(source), "an array of sources").pipe(
  Schema.filter((sources) => {
    const keys = [fileListName, ...sources.map(({ id }) => id)].map(fileKey)
    return sources.flatMap(({ id }, index) => {
      const first = keys.indexOf(fileKey(id))
      return first > index
        ? []
        : [
            {
              path: [index, "id"],
              message:
                first === 0
                  ? `must not be ${fileListName}: every version has a file of this name`
                  : `another source has the id ${JSON.stringify(id)} too, or an id that means the same folder`
            }
          ]
    })
  })
)

const name = expects(
  Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9-]*$/)),
  'a name such as "archive", of small letters, digits and hyphens'
)

/** When the content counts as a problem. */
export interface ContentRules {
  /** How long fetches may fail in a row before this is an error. */
  readonly failingFor: Duration.DurationInput
  /** The greatest age of the last successful fetch; any age if missing. */
  readonly maxAge?: Duration.DurationInput | undefined
}

const ruleDuration = durationWithin(
  { minimum: "1 second", maximum: "365 days" },
  'a duration such as "15 minutes" or "2 days", from 1 second to 365 days'
)

export const defaultFailingFor = "15 minutes"

export const defaultSettle = "10 seconds"

const settle = durationWithin(
  { minimum: 0, maximum: "10 minutes" },
  'a duration such as "10 seconds", 10 minutes at most, or 0'
)

/**
 * The options of `content`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentConfig {
  /**
   * Prefix of the commands and events, and name of the status section and of the slice of the state. The command
   * line works with `content`. Default `"content"`.
   */
  readonly name?: string | undefined

  /** Whether its commands are registered. Default `true`. */
  readonly commands?: boolean | undefined

  /** Folder of the versions and the manifest, relative to the configuration file. Default `"downloads"`. */
  readonly downloadPath?: string | undefined

  /** Pause between two fetches, such as `"10 minutes"`. Default none: one fetch at the start. */
  readonly fetchEvery?: DurationConfig | undefined

  /**
   * How long to wait for further changes before a version is made; only for sources that can tell what has changed. `0`
   * does not wait. Default `"10 seconds"`.
   */
  readonly settle?: DurationConfig | undefined

  /**
   * Whether sources are independent: a source that fails keeps the content that it has, and changes of the others
   * are published. Not for sources whose records name files of another source. Default `false`.
   */
  readonly independent?: boolean | undefined

  /**
   * How long fetches may fail before the controller counts as not healthy, 1 second to 365 days. Default `"15
   * minutes"`.
   */
  readonly failingFor?: DurationConfig | undefined

  /**
   * The greatest age of the last successful fetch before the controller counts as not healthy, 1 second to 365 days.
   * Default any.
   */
  readonly maxAge?: DurationConfig | undefined

  /** Versions kept on disk, in addition to the active one and those that screens show. Default `3`. */
  readonly keepVersions?: number | undefined

  /** How long `content.ack` keeps a version. Default `"30 minutes"`. */
  readonly ackLease?: DurationConfig | undefined

  /** `"by hand"`: each version after the first waits until somebody releases it. Default `"at once"`. */
  readonly release?: "at once" | "by hand" | undefined

  /** Where the content comes from. */
  readonly sources: ReadonlyArray<ContentSourceDefinition>
}

export const ContentOptions = Schema.Struct({
  name: optional(name, "content"),
  commands: optional(expects(Schema.Boolean, "true or false"), true),
  downloadPath: optional(folder, "downloads"),
  fetchEvery: omittable(duration),
  settle: optional(settle, defaultSettle),
  independent: optional(expects(Schema.Boolean, "true or false"), false),
  failingFor: optional(ruleDuration, defaultFailingFor),
  maxAge: omittable(ruleDuration),
  ...retentionOptions,
  sources
})
export type ContentOptions = typeof ContentOptions.Type

export const decode = decodeOptions("the options of the content plugin", ContentOptions)

/** As `decode`, for commands that work on versions on disk: wrong values of other options do not matter. */
export const decodeOnDisk = (config: unknown) => {
  const names = ["name", "downloadPath", "keepVersions", "ackLease", "release"] as const
  return decode(Predicate.isRecord(config) ? { ...Struct.pick(config, ...names), sources: [] } : config)
}

/** As `decode`, without the options of the store of versions. */
export const decodeFetching = decodeOptions(
  "the options of the content",
  ContentOptions.omit("downloadPath", "keepVersions", "ackLease", "release")
)
