/**
 * Content that a running controller rejects, as the dev server of Vite shows it.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"
import { violationText } from "../status/violationText.ts"
import * as IpcClientSocket from "./IpcClientSocket.ts"

/** How long after a connection has failed or ended the next one is tried. */
const reconnectAfter = "2 seconds"

/**
 * Calls the listener with what the controller of the folder rejects, an empty text if nothing, at the start and after each fetch. A
 * controller may start later, end, and start again. It runs until what is returned is called.
 */
export const followRejections = (folder: string, listener: (text: string) => void): (() => void) => {
  const fiber = Effect.runFork(
    follow(listener).pipe(
      Effect.provide(IpcClientSocket.layerOfFolder(folder)),
      Effect.ignore,
      Effect.repeat(Schedule.spaced(reconnectAfter))
    )
  )
  return () => fiber.unsafeInterruptAsFork(fiber.id())
}

/** Until the connection ends. */
const follow = Effect.fnUntraced(function* (listener: (text: string) => void) {
  const { events, view } = yield* IpcClient
  const fetches = Stream.filter(yield* events, ({ name }) => /:fetch:(done|error)$/.test(name))
  const tell = Effect.map(view, (view) => {
    if (hasFetched(view)) {
      listener(rejectionText(view))
    }
  })
  yield* tell
  yield* Stream.runForEach(fetches, () => tell)
}, Effect.scoped)

/** One that has just started does not know yet. */
const hasFetched = ({ contents }: View): boolean => contents.some(({ lastFetch }) => lastFetch !== undefined)

const rejectionText = ({ contents }: View): string =>
  contents
    .flatMap(({ rejection }) => rejection ?? [])
    .map(({ sourceId, violations }) =>
      [
        `Content of the source ${JSON.stringify(sourceId)} is rejected, and what is shown stays as it is.`,
        ...violations.map(violationText)
      ].join("\n")
    )
    .join("\n\n")
