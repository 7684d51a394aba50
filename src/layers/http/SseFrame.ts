/**
 * The frames of a Server-Sent Events stream, as text (docs/wire.md, section 2.6).
 */
import { jsonText } from "../../internal/jsonText.ts"

/** What a response has that is a stream. A proxy that compressed it would hold its events back. */
export const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no"
}

/** What a stream begins with: reconnect two seconds after a drop. */
export const retry = "retry: 2000\n\n"

/** A comment that keeps the connection alive. */
export const ping = ": ping\n\n"

/** An event. Each line of `data` becomes its own field, whichever line ending it has. */
export const event = (name: string, data: string): string => {
  const lines = lineBreak.test(data) ? data.split(lineBreak).join("\ndata: ") : data
  return `event: ${name}\ndata: ${lines}\n\n`
}

/**
 * An event as a frame, for other streams and for comparisons: text stands in `data` as it is,
 * anything else as JSON. A name with CR, LF or NUL, which cannot stand in a frame, throws a `TypeError`.
 */
export const formatSseEvent = (name: string, data: unknown): string => {
  if (!isEventName(name)) {
    throw new TypeError(`The event name ${JSON.stringify(name)} has a line break or a NUL.`)
  }
  return event(name, typeof data === "string" ? data : jsonText(data))
}

/** Whether a name can stand in a frame: a line break in it would inject fields, a NUL cannot be sent. */
export const isEventName = (name: string): boolean => !/[\r\n\0]/.test(name)

const lineBreak = /\r\n|\r|\n/
