/**
 * The content that a running controller rejects, for the dev server of Vite.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"
import { violationText } from "../status/contentText.ts"
import * as IpcClientSocket from "./IpcClientSocket.ts"

/** The pause before the next connection, after one has failed or ended. */
const reconnectAfter = "2 seconds"

/**
 * Calls the listener with the rejected content, or with an empty text, at the start and after each fetch. The
 * controller may start later, stop and start again. Runs until the returned function is called.
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

/** Runs until the connection ends. */
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

/** A controller that has just started does not know of rejections yet. */
const hasFetched = ({ contents }: View): boolean => contents.some(({ lastFetch }) => lastFetch !== undefined)

const rejectionText = ({ contents }: View): string =>
  contents
    .flatMap(({ rejection }) => rejection ?? [])
    .map(({ sourceId, violations }) =>
      [
        `Content of the source ${JSON.stringify(sourceId)} is rejected, and the screens keep the content they have.`,
        ...violations.map(violationText)
      ].join("\n")
    )
    .join("\n\n")
