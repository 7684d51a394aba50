/**
 * What happens to the content, in words for people.
 */
import type { SourceOutcome } from "../services/ContentEvents.ts"
import type { SourceProgress } from "../services/ContentSource.ts"
import { clockTime, countText, secondsText, sizeText } from "./readable.ts"

/** `Objects, 1200 records; 12 of 40 files, 3.1 MiB; waiting …` */
export const progressText = ({ attachments, document, records, waiting }: SourceProgress): string =>
  [
    `${document}, ${countText(records, "record")}`,
    ...(attachments === undefined
      ? []
      : [`${attachments.done} of ${countText(attachments.total, "file")}, ${sizeText(attachments.bytes)}`]),
    ...(waiting === undefined ? [] : [waitText(waiting)])
  ].join("; ")

export const waitText = ({ reason, until }: NonNullable<SourceProgress["waiting"]>): string => {
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
export const outcomeText = ({ attachments, bytes, durationMs, records }: SourceOutcome): string =>
  [
    countText(records, "record"),
    ...(attachments === undefined || attachments.total === 0
      ? []
      : [
          `${countText(attachments.total, "file")}${attachments.reused === 0 ? "" : ` (${attachments.reused} as before)`}`
        ]),
    sizeText(bytes),
    `in ${secondsText(durationMs)}`
  ].join(", ")
