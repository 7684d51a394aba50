/**
 * The page in its own folder, and its build: a digest of its files. Open pages compare the build to learn of a new one.
 */

import { readdir, realpath, stat } from "node:fs/promises"
import { basename } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { walkFolder } from "../../files/fileBatch.ts"
import { isPlainFileName } from "../../files/fileName.ts"
import { sha256OfFile, sha256OfText } from "../../files/sha256.ts"
import { repeatAfter } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { makeWarnOnce, makeWarnWhile } from "../../internal/warnOnce.ts"
import { HasDevServer } from "../../services/ContentServer.ts"
import { EventBus } from "../../services/EventBus.ts"
import { NotFound, Unreadable } from "../http/errors.ts"
import * as PlainFiles from "./PlainFile.ts"
import { isDocument, notFound, type Page, pageResource, partOfBuild } from "./resource.ts"

/** Milliseconds between two looks at the folder, and so how long its files must stay unchanged. */
export const lookMs = 5000

/** How many files and folders are checked at most. */
export const maxNames = 5000

/** The files that a look has found. */
interface Listing {
  /** Identifies the folder that a link leads to. */
  readonly root: string
  /** The files below the folder, by their paths. */
  readonly files: ReadonlyArray<readonly [path: string, file: string]>
  /** Changes when a file or the folder changes. */
  readonly key: string
  /** When a file was last written, linked or renamed, in milliseconds since 1970. */
  readonly touchedAt: number
  readonly isCut: boolean
}

interface Build {
  readonly id: string
  /** The files of the build. */
  readonly listing: Listing
}

/**
 * Looks at the folder of the page every 5 seconds, and publishes `content:page:built` when it finds a new build.
 *
 * A build counts when two looks in a row find the same files. If the folder was replaced by a folder whose files have not
 * changed for 5 seconds, the build counts at once. If the folder cannot be read, the last build stays. Warns if the folder is
 * missing at the start, unless a dev server has the page.
 *
 * Gives the current build, 16 hexadecimal digits; `None` until the files are read for the first time.
 */
export const make = Effect.fnUntraced(function* (site: string, content: string) {
  const bus = yield* EventBus
  const fs = yield* FileSystem.FileSystem
  const counted = yield* Ref.make(Option.none<Build>())
  const seen = yield* Ref.make(Option.none<Listing["key"]>())
  const warnOnce = makeWarnOnce((text) => text)
  const readWarning = makeWarnWhile(
    (message) => `The page cannot be read, so that open pages get no new build of it: ${message}`
  )
  const announcing = makeWarnWhile(
    (message) => `${message}. Open pages learn of a new build when they look at the manifest.`
  )

  const announce = (build: string) =>
    bus.publish(`${content}:page:built`, { build }).pipe(
      Effect.zipRight(announcing.works),
      Effect.catchAllCause((cause) => announcing.fails(messageOf(Cause.squash(cause)))),
      Effect.zipRight(Effect.logInfo(`New build of the page: ${build}`))
    )

  const look = Effect.gen(function* () {
    const listing = yield* listFiles(site)
    if (listing.isCut) {
      yield* warnOnce(
        `The page has more than ${maxNames} files and folders: changes in the rest are not noticed.`
      )
    }
    const isQuiet = Option.contains(yield* Ref.getAndSet(seen, Option.some(listing.key)), listing.key)
    const before = yield* Ref.get(counted)
    const now = yield* Clock.currentTimeMillis
    if (Option.isNone(before) || counts(listing, before.value.listing, isQuiet, now)) {
      const id = yield* idOf(listing)
      yield* Ref.set(counted, Option.some({ id, listing }))
      if (Option.exists(before, (before) => before.id !== id)) {
        yield* announce(id)
      }
    }
    yield* readWarning.works
  }).pipe(
    Effect.catchAll(({ cause }) =>
      errorCode(cause) === "ENOENT" ? Effect.void : readWarning.fails(messageOf(cause))
    ),
    Effect.provideService(FileSystem.FileSystem, fs)
  )

  const isNeeded = !(yield* HasDevServer)
  if (isNeeded && !(yield* Effect.orElseSucceed(fs.exists(site), constTrue))) {
    yield* Effect.logWarning(missing(site))
  }
  yield* look.pipe(repeatAfter(lookMs), Effect.forkScoped)
  return Effect.map(
    Ref.get(counted),
    Option.map(({ id }) => id)
  )
})

const missing = (site: string): string =>
  `The folder of the page is missing: ${site}.${basename(site) === "dist" ? " Is the page built?" : ""}`

/** Whether the files are a complete build, and differ from the build before. */
const counts = (listing: Listing, before: Listing, isQuiet: boolean, now: number): boolean =>
  listing.key !== before.key &&
  (isQuiet || (listing.root !== before.root && listing.touchedAt + lookMs <= now))

const idOf = ({ files }: Listing) =>
  Effect.forEach(files, ([path, file]) =>
    Effect.map(sha256OfFile(file), (digest) => [path, digest] as const)
  ).pipe(Effect.mapBoth({ onFailure: unreadable, onSuccess: digestOf }))

/** The digest of sorted files, from their paths and contents only: not from their dates or their folder. */
export const digestOf = (files: ReadonlyArray<readonly [path: string, sha256: string]>): string =>
  sha256OfText(files.map(([path, digest]) => `${path}\0${digest}`).join("\n")).slice(0, 16)

const unreadable = (cause: unknown) => new Unreadable({ cause })

/** The files that the server would send: no links, and no names that begin with a dot. */
const listFiles = Effect.fnUntraced(function* (site: string) {
  const { dev, ino, root } = yield* asking(async () => {
    const root = await realpath(site)
    return { root, ...(await stat(root)) }
  })
  let names = 0
  let isCut = false
  const { found } = yield* walkFolder(root, {
    list: (folder) => asking(() => readdir(folder, { withFileTypes: true })),
    choose: (entries) => {
      const looked = entries.slice(0, maxNames - names)
      names += looked.length
      isCut ||= looked.length < entries.length
      return Effect.succeed(
        looked.flatMap((entry) => (isPlainFileName(entry.name) ? [{ entry, name: entry.name }] : []))
      )
    },
    look: async (entry, file, path) => {
      if (!entry.isFile()) return []
      const { ctimeMs, ino, size } = await stat(file)
      return [{ path, file, touchedAt: ctimeMs, stamp: `${ino} ${ctimeMs} ${size}` }]
    },
    failed: unreadable
  })
  const files = found.flat().sort((one, other) => (one.path < other.path ? -1 : 1))
  const id = `${root} ${dev} ${ino}`
  return {
    root: id,
    files: files.map(({ file, path }) => [path, file] as const),
    key: sha256OfText(JSON.stringify([id, files])),
    touchedAt: files.reduce((latest, { touchedAt }) => Math.max(latest, touchedAt), 0),
    isCut
  } satisfies Listing
})

const asking = <A>(action: () => Promise<A>) => Effect.tryPromise({ try: action, catch: unreadable })

/** The page in its own folder. */
export const makePage = Effect.fnUntraced(function* (site: string, content: string) {
  const current = yield* make(site, content)
  const files = PlainFiles.make(site)
  return {
    build: () => current,

    find: Effect.fnUntraced(function* ({ names, raw }) {
      const inFolder = names.at(-1) === ""
      const below = inFolder ? names.slice(0, -1) : names
      const asked = notFound(names)
      if (!below.every(isPlainFileName)) {
        return yield* asked
      }
      const found = yield* files.find(inFolder ? [...below, "index.html"] : below)
      if (Option.isNone(found)) {
        return (yield* files.isThere)
          ? yield* below.length > 0
              ? asked
              : new NotFound({ message: `The folder of the page has no index.html: ${basename(site)}` })
          : yield* new NotFound({ message: `The folder of the page is missing: ${basename(site)}` })
      }
      if (found.value.type === "Directory") {
        return inFolder ? yield* asked : { _tag: "Redirect" as const, location: `${raw}/` }
      }
      const resource = pageResource(found.value)
      return isDocument(found.value.file) ? partOfBuild(resource, yield* current) : resource
    })
  } satisfies Page
})
