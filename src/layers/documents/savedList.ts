/**
 * Lists as they are saved, in parts that are not parsed: each item begins on a line of its own, indented by two spaces.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A file is no list, or is not in the form in which lists are saved. */
export class NoSavedList extends Schema.TaggedError<NoSavedList>()("vitrine/NoSavedList", {}) {
  override get message() {
    return "The file is no list as Vitrine saves it"
  }
}

/** What has been read of a file, and is no whole item yet. */
type Rest = ReadonlyArray<Buffer>

/**
 * The items of a list, as many at a time as come at once, with the commas between them. It fails where the file has another form, or one
 * item is larger than `maxItem` bytes.
 */
export const readList = (
  file: string,
  maxItem = Number.POSITIVE_INFINITY
): Stream.Stream<Buffer, NoSavedList | PlatformError, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) =>
      Stream.map(fs.stream(file, { chunkSize: partLength }), (part) =>
        Option.some(Buffer.from(part.buffer, part.byteOffset, part.length))
      )
    )
  ).pipe(
    Stream.concat(Stream.succeed(Option.none())),
    Stream.mapAccumEffect(Option.none<Rest>(), (rest, part) =>
      Option.match(part, {
        onNone: () => lastItems(rest),
        onSome: (part) =>
          Option.match(rest, {
            onNone: () => Effect.flatMap(begun(part), (part) => nextItems([], part, maxItem)),
            onSome: (rest) => nextItems(rest, part, maxItem)
          })
      })
    ),
    Stream.filter(({ length }) => length > 0)
  )

/** The items in some of its text, parsed. */
export const parseItems = (text: string): ReadonlyArray<unknown> => JSON.parse(`[${text}]`)

/** The first part of a file, without what begins the list. */
const begun = (part: Buffer): Effect.Effect<Buffer, NoSavedList> =>
  part.toString("latin1") === emptyList
    ? Effect.succeed(part.subarray(part.length))
    : part.toString("latin1", 0, beginning.length) === beginning
      ? Effect.succeed(part.subarray(beginning.length - indentation.length))
      : new NoSavedList()

/** The items that are whole with this part of the file. One that ends where the part does comes with the next ones. */
const nextItems = (rest: Rest, part: Buffer, maxItem: number) => {
  const found = lastSeparator(part)
  if (found !== -1) {
    const items = Buffer.concat([...rest, part.subarray(0, found)])
    return Effect.succeed([Option.some([part.subarray(found + ",\n".length)]), items] as const)
  }
  const waiting = [...rest, part]
  return waiting.reduce((sum, { length }) => sum + length, 0) > maxItem
    ? new NoSavedList()
    : Effect.succeed([Option.some(waiting), noBytes] as const)
}

/** What is left at the end of the file. */
const lastItems = (rest: Option.Option<Rest>) => {
  const all = Buffer.concat(Option.getOrElse(rest, () => []))
  const end = all.lastIndexOf("\n]")
  const isWhole =
    end === -1 ? Option.isSome(rest) && all.length === 0 : /^\n\]\s*$/.test(all.toString("latin1", end))
  return isWhole
    ? Effect.succeed([Option.none<Rest>(), all.subarray(0, Math.max(0, end))] as const)
    : new NoSavedList()
}

/** Where the last item begins, with the comma before it; -1 where no item begins. */
const lastSeparator = (bytes: Buffer): number => {
  let at = bytes.lastIndexOf(separator)
  while (at !== -1 && (bytes[at + separator.length] ?? space) === space) {
    at = at === 0 ? -1 : bytes.lastIndexOf(separator, at - 1)
  }
  return at
}

/** How many bytes of a file are read at a time: smaller parts take longer together. */
const partLength = 256 * 1024

const indentation = "  "
const beginning = `[\n${indentation}`
const emptyList = "[]\n"
const separator = `,\n${indentation}`
const space = " ".charCodeAt(0)
const noBytes = Buffer.alloc(0)
