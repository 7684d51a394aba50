/**
 * Listens to the controller's event stream for as long as the page lives. It owns the connection and its revival,
 * and says that there is news; what the news is stands in the manifest.
 */

import { transportUrl } from "./endpoint.js"

const pauseMs = 5000

/**
 * Calls `onOpen` and `onLost` as the stream comes and goes, and `onPromoted` for every version announced.
 *
 * An EventSource reconnects by itself after a dropped connection, but gives up for good after any other answer than
 * a stream (a 503 while all places are taken, for one): then a new one is made after a pause.
 */
export const followStream = ({ onLost, onOpen, onPromoted }) => {
  const connectLater = () => setTimeout(connect, pauseMs)

  const connect = async () => {
    let source
    try {
      source = new EventSource(`${await transportUrl()}/events`)
    } catch {
      connectLater()
      return
    }
    source.addEventListener("open", onOpen)
    source.addEventListener("content:version:promoted", onPromoted)
    source.addEventListener("error", () => {
      onLost()
      if (source.readyState === EventSource.CLOSED) {
        connectLater()
      }
    })
  }

  connect()
}
