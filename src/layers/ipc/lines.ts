/**
 * Bytes that come in pieces, as lines (newline-delimited JSON).
 */

/** What a line that is longer than the limit becomes; the rest of it is thrown away. */
export const tooLong = "too long"

export type Line = Uint8Array | typeof tooLong

/**
 * Takes pieces and gives the lines that end in each, without their line feeds.
 *
 * A line of more than `maxBytes` is told of as soon as it is that long. What comes after the last line feed is no
 * line.
 */
export const makeLineSplitter = (maxBytes: number): ((piece: Uint8Array) => ReadonlyArray<Line>) => {
  let begun: Array<Uint8Array> = []
  let length = 0

  return (piece) => {
    const lines: Array<Line> = []
    const take = (bytes: Uint8Array) => {
      const wasLong = length > maxBytes
      length += bytes.length
      if (length <= maxBytes) {
        // Whoever sends single bytes must not cost an object for each.
        begun = begun.length < maxPieces ? [...begun, bytes] : [Buffer.concat([...begun, bytes])]
      } else if (!wasLong) {
        begun = []
        lines.push(tooLong)
      }
    }

    let start = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
      take(piece.subarray(start, end))
      if (length <= maxBytes) {
        lines.push(Buffer.concat(begun))
      }
      begun = []
      length = 0
      start = end + 1
    }
    take(piece.subarray(start))
    return lines
  }
}

const lineFeed = 10

/** How many pieces of a line are kept before they become one. */
const maxPieces = 64
