/**
 * How much content there is, or a fetch has read: records of lists, and documents that are one value each.
 */
import * as Schema from "effect/Schema"
import { clockTime, countText, secondsText, sizeText } from "./readable.ts"
import { optional } from "./schemas.ts"

/** As fields of schemas. */
export const contentCounts = {
  /** Records in lists. */
  records: Schema.NonNegativeInt,
  /** Documents that are no list: key/value tables, and single objects. Missing if there are none. */
  values: optional(Schema.NonNegativeInt)
}

export interface ContentCounts {
  readonly records: number
  readonly values?: number | undefined
}

/** The same, as far as they are known. */
export type KnownCounts = { readonly [Name in keyof ContentCounts]?: number | undefined }

export const sumCounts = (all: Iterable<KnownCounts>): ContentCounts => {
  let [records, values] = [0, 0]
  for (const counts of all) {
    records += counts.records ?? 0
    values += counts.values ?? 0
  }
  return values === 0 ? { records } : { records, values }
}

/** `40 records`, `40 records, 1 set of values`, `2 sets of values` */
export const countsText = ({ records, values = 0 }: ContentCounts): string =>
  [
    ...(records === 0 && values > 0 ? [] : [countText(records, "record")]),
    ...(values === 0 ? [] : [`${countText(values, "set")} of values`])
  ].join(", ")

interface Wait {
  readonly reason: "pacing" | "penalty" | "retry"
  /** ISO 8601, UTC. */
  readonly until: string
}

interface Progress {
  readonly document: string
  readonly records: number
  readonly attachments?: { readonly done: number; readonly total: number; readonly bytes: number } | undefined
  readonly waiting?: Wait | undefined
}

interface Outcome extends ContentCounts {
  readonly bytes: number
  readonly attachments?: { readonly total: number; readonly reused: number } | undefined
  readonly durationMs: number
}

/** `Objects, 1200 records; 12 of 40 files, 3.1 MiB; waiting …` */
export const progressText = ({ attachments, document, records, waiting }: Progress): string =>
  [
    records === 0 ? document : `${document}, ${countText(records, "record")}`,
    ...(attachments === undefined
      ? []
      : [`${attachments.done} of ${countText(attachments.total, "file")}, ${sizeText(attachments.bytes)}`]),
    ...(waiting === undefined ? [] : [waitText(waiting)])
  ].join("; ")

const waitText = ({ reason, until }: Wait): string => {
  switch (reason) {
    case "pacing":
      return "waiting for its turn"
    case "penalty":
      return `waiting until ${clockTime(new Date(until))}: the API refuses requests for a while`
    case "retry":
      return `waiting until ${clockTime(new Date(until))} for another try`
  }
}

/** `1200 records, 40 files (38 as before), 3.1 MiB, in 1.2 s` */
export const outcomeText = ({ attachments, bytes, durationMs, ...counts }: Outcome): string =>
  [
    countsText(counts),
    ...(attachments === undefined || attachments.total === 0
      ? []
      : [
          `${countText(attachments.total, "file")}${attachments.reused === 0 ? "" : ` (${attachments.reused} as before)`}`
        ]),
    sizeText(bytes),
    `in ${secondsText(durationMs)}`
  ].join(", ")
