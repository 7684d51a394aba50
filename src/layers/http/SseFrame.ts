/**
 * The frames of a Server-Sent Events stream, as text (docs/wire.md, section 2.6).
 */
import { jsonText } from "../../internal/jsonText.ts"

/** Headers of a stream. `no-transform` prevents compression in a proxy, which would delay events. */
export const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no"
}

/** The first line of a stream: clients reconnect two seconds after a disconnect. */
export const retry = "retry: 2000\n\n"

/** A comment that keeps the connection alive. */
export const ping = ": ping\n\n"

/** An event as a frame. Each line of `data` becomes its own field, for any line ending. */
export const event = (name: string, data: string): string => {
  const lines = lineBreak.test(data) ? data.split(lineBreak).join("\ndata: ") : data
  return `event: ${name}\ndata: ${lines}\n\n`
}

/**
 * An event as a frame, for other streams and for comparisons. Text is sent in `data` unchanged, other values as JSON.
 * Throws a `TypeError` if the name has CR, LF or NUL, which a frame cannot contain.
 *
 * @since 0.1.0
 * @category utils
 */
export const formatSseEvent = (name: string, data: unknown): string => {
  if (!isEventName(name)) {
    throw new TypeError(`The event name ${JSON.stringify(name)} has a line break or a NUL.`)
  }
  return event(name, typeof data === "string" ? data : jsonText(data))
}

/** Whether a frame can contain the name: a line break would inject fields, and a NUL cannot be sent. */
export const isEventName = (name: string): boolean => !/[\r\n\0]/.test(name)

const lineBreak = /\r\n|\r|\n/
