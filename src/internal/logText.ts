/**
 * What is logged, as text that may be shown to others.
 */
import * as Cause from "effect/Cause"
import { messageOf, serializeError } from "./SerializedError.ts"

/** Without control characters; absolute paths have their last part only. It is cut where it is longer than `maxLength`. */
export const logText = (message: unknown, cause: Cause.Cause<unknown>, maxLength: number): string => {
  const parts = [message].flat().map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
  const why = Cause.isEmpty(cause) ? [] : [messageOf(Cause.squash(cause))]
  const whole = [parts.join(" "), ...why].join(": ")
  const { message: text } = serializeError(new Error(whole))
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}
