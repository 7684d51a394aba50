/**
 * The messages between the controller and a process that makes pictures: jobs, and their answers.
 */
import * as Schema from "effect/Schema"
import { optional } from "../../../internal/schemas.ts"
import { Sha256 } from "../../../services/ContentSource.ts"
import type { ImageFormat } from "../DocumentConfig.ts"
import type { Area } from "./recipe.ts"

/** The jobs: reading the size of a picture, or writing a picture. */
export type Job = Look | Make

interface Limited {
  /** Absolute path. */
  readonly file: string
  /** The most processor time for the job, in milliseconds. */
  readonly limitMs: number
}

export interface Look extends Limited {
  readonly job: "look"
}

export interface Make extends Limited {
  readonly job: "make"
  /** The path of the new file (absolute). */
  readonly to: string
  /** The part of the picture, upright. Default the whole picture. */
  readonly area?: Area | undefined
  readonly width: number
  readonly height: number
  readonly format: ImageFormat
  readonly quality?: number | undefined
}

/** The first message of a process. */
export const Ready = Schema.Struct({ is: Schema.Literal("ready") })
export type Ready = typeof Ready.Type

export const Looked = Schema.Union(
  Schema.Struct({
    is: Schema.Literal("picture"),
    /** Upright, in pixels. */
    width: Schema.Int,
    height: Schema.Int,
    /** The libraries that would convert it. */
    versions: Schema.Record({ key: Schema.String, value: Schema.String })
  }),
  /**
   * `left alone`: browsers show it as it is, for example an animation. `unknown`: no known kind of picture, or a
   * drawing.
   */
  Schema.Struct({ is: Schema.Literal("left alone", "unknown") })
)
export type Looked = typeof Looked.Type

export const Made = Schema.Struct({
  is: Schema.Literal("made"),
  bytes: Schema.Int,
  sha256: Sha256,
  /** The decoder's warning about a file that it could read. */
  warning: optional(Schema.String)
})
export type Made = typeof Made.Type

export const Failed = Schema.Struct({
  is: Schema.Literal("failed"),
  message: Schema.String,
  /** The code of the system, for an error of the system. */
  code: optional(Schema.String)
})
export type Failed = typeof Failed.Type
