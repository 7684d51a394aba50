/**
 * Reading a stream of Server-Sent Events, as the HTML standard has it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

export interface ServerEvent {
  /** `message` where it has no name. */
  readonly event: string
  readonly data: string
  /** Of this event, or of the last one before it that had one. */
  readonly id: string
}

/** An event that is longer than anything that is expected. */
export class EventTooLong extends Schema.TaggedError<EventTooLong>()("vitrine/EventTooLong", {}) {
  override get message() {
    return `one of its events has more than ${maxLength} characters`
  }
}

const maxLength = 1024 * 1024

/** What has come of a stream so far, and is no event yet. */
interface Unread {
  /** The line that has not ended. */
  readonly line: string
  readonly event: string
  readonly data: ReadonlyArray<string>
  readonly id: string
}

export const start: Unread = { line: "", event: "", data: [], id: "" }

/** The events of text that came in parts; what ends without a blank line is none. */
export const readEvents = <E, R>(text: Stream.Stream<string, E, R>) =>
  text.pipe(
    Stream.mapAccum(start, (unread, part) => {
      const { events, unread: rest } = read(unread, part)
      return [rest, { events, length: lengthOf(rest) }] as const
    }),
    Stream.mapEffect(({ events, length }) =>
      length > maxLength ? new EventTooLong() : Effect.succeed(events)
    ),
    Stream.mapConcat((events) => events)
  )

const lengthOf = ({ data, line }: Unread): number =>
  data.reduce((sum, { length }) => sum + length + 1, line.length)

/** Reads one more part of the text. A CR at the end of a part may be the first half of a line break. */
export const read = (
  before: Unread,
  part: string
): { readonly unread: Unread; readonly events: ReadonlyArray<ServerEvent> } => {
  const text = before.line + part
  const isCut = text.endsWith("\r")
  const lines = (isCut ? text.slice(0, -1) : text).split(/\r\n|\r|\n/)
  const last = `${lines.pop() ?? ""}${isCut ? "\r" : ""}`
  let { event, id } = before
  let data = [...before.data]
  const events: Array<ServerEvent> = []
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) events.push({ event: event || "message", data: data.join("\n"), id })
      event = ""
      data = []
      continue
    }
    const { name, value } = fieldOf(line)
    if (name === "event") event = value
    if (name === "data") data.push(value)
    if (name === "id" && !value.includes("\0")) id = value
  }
  return { unread: { line: last, event, data, id }, events }
}

/** A comment has no name. */
const fieldOf = (line: string): { readonly name: string; readonly value: string } => {
  const colon = line.indexOf(":")
  return colon === -1
    ? { name: line, value: "" }
    : { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, "") }
}
