/**
 * Sends the body of a response part by part, as fast as the client reads: progress is then visible in `bytesWritten`.
 */
import type { ServerResponse } from "node:http"

/** The largest part, in bytes. */
export const partBytes = 256 * 1024

export interface Body {
  /** In bytes. */
  readonly size: number
  /** Reads at most `length` bytes from `position`. An empty part ends the connection: the client would wait for the rest. */
  readonly read: (position: number, length: number) => Promise<Uint8Array>
  /** Called when the body waits for the client for the first time. */
  readonly onWait: () => void
}

/** False if the connection was closed while the system was writing: it may still read the last part. */
export const sendParts = async (response: ServerResponse, { onWait, read, size }: Body): Promise<boolean> => {
  let isWaiting = false
  for (let sent = 0; sent < size && !response.destroyed; ) {
    const part = await read(sent, Math.min(partBytes, size - sent))
    if (part.length === 0) {
      response.destroy()
      return true
    }
    sent += part.length
    const writing = writePart(response, part, sent === size)
    if (!isWaiting && response.writableLength > 0) {
      isWaiting = true
      onWait()
    }
    if (!(await writing)) {
      return false
    }
  }
  return true
}

/** True when the system has the bytes; false if the response was cut off. */
const writePart = (response: ServerResponse, bytes: Uint8Array, isLast: boolean) =>
  new Promise<boolean>((resolve) => {
    const onClose = () => resolve(false)
    const onWritten = (error?: Error | null) => {
      response.off("close", onClose)
      resolve(error === undefined || error === null)
    }
    response.once("close", onClose)
    if (isLast) {
      response.end(bytes, onWritten)
    } else {
      response.write(bytes, onWritten)
    }
  })
