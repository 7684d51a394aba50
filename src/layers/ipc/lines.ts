/**
 * Bytes that come in pieces, as lines (newline-delimited JSON).
 */

/** What a line that is longer than the limit becomes; the rest of it is thrown away. */
export const tooLong = "too long"

export type Line = Uint8Array | typeof tooLong

export interface LineReader {
  readonly push: (piece: Uint8Array) => void
  /** Ends the line that has begun, as a line feed does. For when nothing more comes. */
  readonly end: () => void
  /** The next line without its end; undefined where more must be pushed first. */
  readonly next: () => Line | undefined
}

/**
 * Lines end with a line feed, in front of which may be a carriage return. Blank ones are none; nor is what comes
 * after the last line feed, before `end` says that it is whole.
 *
 * A line of more than `maxBytes` is told of as soon as it is that long.
 */
export const makeLineReader = (maxBytes: number): LineReader => {
  /** What was pushed and not looked at yet; `start` is where to go on in the first of them. */
  const pieces: Array<Uint8Array> = []
  let start = 0
  /** The line that has begun, in parts, and its length so far. */
  let parts: Array<Uint8Array> = []
  let length = 0

  /** Tells whether the line has become too long just now. */
  const add = (part: Uint8Array) => {
    const wasTooLong = length > maxBytes
    length += part.length
    if (length > maxBytes) {
      parts = []
    } else if (parts.length === maxParts) {
      parts = [Buffer.concat([...parts, part])]
    } else {
      parts.push(part)
    }
    return length > maxBytes && !wasTooLong
  }

  const finish = () => {
    const line = length > maxBytes ? undefined : withoutReturn(Buffer.concat(parts))
    parts = []
    length = 0
    return line
  }

  const next = (): Line | undefined => {
    for (let piece = pieces[0]; piece !== undefined; piece = pieces[0]) {
      while (length === 0 && piece[start] === lineFeed) {
        start += 1
      }
      const end = piece.indexOf(lineFeed, start)
      const part = piece.subarray(start, end === -1 ? piece.length : end)
      const isTooLong = add(part)
      start += part.length
      if (end === -1) {
        pieces.shift()
        start = 0
      } else if (!isTooLong) {
        start += 1
        const line = finish()
        if (line !== undefined && line.length > 0) {
          return line
        }
      }
      if (isTooLong) {
        return tooLong
      }
    }
    return undefined
  }

  const push = (piece: Uint8Array) => void pieces.push(piece)
  return { push, end: () => push(Uint8Array.of(lineFeed)), next }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** In how many parts a line is kept: whoever sends it byte by byte must not cost an object for each. */
const maxParts = 64

const withoutReturn = (line: Uint8Array) => (line.at(-1) === carriageReturn ? line.subarray(0, -1) : line)
