/**
 * A controller in its own process that fetches and promotes without end (`promoter.mjs`), the tables that it
 * fetches, and what its downloads hold.
 */
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { basename, join, relative } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { inject } from "vitest"
import { FileListJson, fileListName, filesOf } from "../../src/files/FileList.ts"
import { box, movie } from "../rules/bytes.ts"
import * as Received from "./Received.ts"
import { sha256 } from "./sha256.ts"
import { attachmentId } from "./tableServer/identifiers.ts"
import * as TableServer from "./tableServer.ts"

/** How large a film is, in bytes: large enough to be killed in the middle of. */
export const filmBytes = 3 << 20

/** All that promoters may want to attach, no two alike. */
const attachments = [
  ...Array.from({ length: 24 }, (_, index) => ({ name: `picture ${index}.jpg`, size: 20_000 })),
  ...Array.from({ length: 3 }, (_, index) => ({ name: `film ${index}.mp4`, size: filmBytes }))
]

/** No text, which no picture and no film may be. */
const bytesOf = (name: string, size: number): Buffer => Buffer.alloc(size, `\0${name}, `)

/** A picture without a warning: it begins and ends as a JPEG. */
const jpegOf = (name: string, size: number): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xda]), bytesOf(name, size), Buffer.from([0xff, 0xd9])])

/** A film without a warning: browsers play its codec. */
const filmOf = (name: string, size: number): Buffer => {
  const head = movie("isom", "avc1")
  return Buffer.concat([head, box("free", bytesOf(name, size - head.length - 8))])
}

export interface Promoter {
  /** Waits until it can start in an instant. */
  readonly ready: Effect.Effect<void>
  readonly go: Effect.Effect<void>
  /** Waits until it holds the downloads, and tells what it found in the staging folder then. */
  readonly started: Effect.Effect<ReadonlyArray<string>>
  /** Waits until it has said something so many times. */
  readonly said: (what: string, times?: number) => Effect.Effect<void>
  /** Ends it on the spot, as a loss of power does, and waits for its end. */
  readonly kill: Effect.Effect<void>
  /** Everything that it has said. */
  readonly output: Effect.Effect<string>
}

/** Serves tables until the scope ends. They are for promoters to edit; all that those may attach is there. */
const serveTables = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  for (const { name, size } of attachments) {
    yield* fs.writeFile(
      `${directory}/${name}`,
      name.endsWith(".jpg") ? jpegOf(name, size) : filmOf(name, size)
    )
    // So old that the server knows it once it has read it.
    yield* fs.utimes(`${directory}/${name}`, 0, 0)
  }
  const { url } = yield* TableServer.start(directory, { rateLimit: false })
  return { directory, url }
}).pipe(Logger.withMinimumLogLevel(LogLevel.Warning))

/**
 * Gives what starts promoters of `downloads` in a folder, which is their folder for temporary files as well. With `undo` they
 * roll back, hold and resume while they fetch.
 */
export const makePromoters = Effect.fnUntraced(function* (folder: string, mode?: "undo") {
  const tables = yield* serveTables
  const program = join(inject("bundles"), "promoter.mjs")
  return start([program, `${folder}/downloads`, tables.directory, tables.url, mode ?? ""], folder)
})

/** The process is killed with the scope at the latest. */
const start = (
  command: ReadonlyArray<string>,
  temporary: string
): Effect.Effect<Promoter, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, command, {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const received = Received.from(child.stdout)
      child.stdin.on("error", () => {})
      const end = new Promise<void>((resolve) => child.once("close", () => resolve()))
      const said = (what: string, times = 1) =>
        Effect.asVoid(received.until((text) => text.split(what).length > times))
      return {
        ready: said("ready\n"),
        go: Effect.sync(() => void child.stdin.write("go\n")),
        started: Effect.map(
          received.until((text) => startedLine.test(text)),
          stagingOf
        ),
        said,
        kill: Effect.suspend(() => {
          child.kill("SIGKILL")
          return Effect.promise(() => end)
        }),
        output: Effect.sync(received.text)
      }
    })
  )

const startedLine = /^started (.*)$/m
const decodeNames = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Schema.String)))

/** What a promoter that said this had found in its staging folder; nothing where it had not come so far. */
export const stagingOf = (output: string): ReadonlyArray<string> =>
  decodeNames(startedLine.exec(output)?.[1] ?? "[]")

const Settings = Schema.parseJson(
  Schema.Struct({
    edition: Schema.Number,
    objects: Schema.Number,
    pictures: Schema.Number,
    rooms: Schema.Number,
    films: Schema.Number
  })
)

const Saved = Schema.Struct({
  id: Schema.String,
  filename: Schema.String,
  size: Schema.Number,
  localPath: Schema.String
})

const Records = Schema.parseJson(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      edition: Schema.Number,
      pictures: Schema.optional(Schema.Array(Saved)),
      film: Schema.optional(Schema.Array(Saved))
    })
  )
)

/** Reads a version; dies unless it is one edition, all of it is there, is right, and is all there is. */
export const readPromoted = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const tables = ["objects/Objects.json", "objects/Settings.json", "rooms/Rooms.json"] as const
  const [objectsText, settingsText, roomsText] = yield* Effect.all(
    tables.map((table) => fs.readFileString(`${folder}/${table}`))
  )
  const settings = yield* Schema.decodeUnknown(Settings)(settingsText)
  const objects = yield* Schema.decodeUnknown(Records)(objectsText)
  const rooms = yield* Schema.decodeUnknown(Records)(roomsText)
  const { edition } = settings
  const pictures = objects.flatMap(({ pictures = [] }) => pictures)
  const films = rooms.flatMap(({ film = [] }) => film)
  expect({
    edition,
    objects: objects.length,
    pictures: pictures.length,
    rooms: rooms.length,
    films: films.length
  }).toEqual(settings)
  expect(new Set([...objects, ...rooms].map(({ edition }) => edition)), folder).toEqual(new Set([edition]))

  const saved = [
    ...pictures.map((picture) => ({ ...picture, path: `objects/${picture.localPath}` })),
    ...films.map((film) => ({ ...film, path: `rooms/${film.localPath}` }))
  ]
  for (const { filename, id, path, size } of saved) {
    const content = yield* fs.readFile(`${folder}/${path}`)
    // The server makes the id of the name and the content.
    const is = { size: content.length, id: attachmentId(filename, sha256(content)) }
    expect(is, `${folder}/${path}`).toEqual({ size, id })
  }

  const there = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name, parentPath }) => relative(folder, join(parentPath, name)))
  const expected = [...tables, ...saved.map(({ path }) => path)]
  expect(there.toSorted()).toEqual([fileListName, ...expected].toSorted())
  const list = yield* Schema.decode(FileListJson)(yield* fs.readFileString(`${folder}/${fileListName}`))
  const contents = yield* Effect.forEach(expected, (path) =>
    Effect.map(
      fs.readFile(`${folder}/${path}`),
      (content) => [path, { size: content.length, sha256: sha256(content) }] as const
    )
  )
  expect(list.versionId).toBe(basename(folder))
  expect(Object.fromEntries(filesOf(list))).toEqual(Object.fromEntries(contents))
  return { edition, files: expected.map((path) => `${folder}/${path}`) }
}, Effect.orDie)
