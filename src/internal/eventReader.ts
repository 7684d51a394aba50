/** Reads Server-Sent Events from the text of a response, as it arrives. */
import { createParser, type EventSourceMessage } from "eventsource-parser"

/**
 * Gives a function to call with each piece of the text. It returns the events that the piece completes, and whether an event is
 * longer than `maxLength` characters: then nothing more can be read. Default: no limit.
 */
export const makeEventReader = (maxLength?: number) => {
  const events: Array<EventSourceMessage> = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: (event) => void events.push(event),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded"
    }
  })
  return (text: string) => {
    parser.feed(text)
    return { events: events.splice(0), isTooLong }
  }
}
