/**
 * Event streams as a foreign parser reads them.
 */
import { createParser } from "eventsource-parser"

export interface Message {
  readonly event: string | undefined
  readonly data: string
}

/** The messages of a stream of which these are the bytes. */
export const messages = (bytes: Uint8Array): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  const parser = createParser({ onEvent: ({ data, event }) => messages.push({ event, data }) })
  parser.feed(Buffer.from(bytes).toString())
  return messages
}
