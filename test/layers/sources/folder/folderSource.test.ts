import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile
} from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import sharp from "sharp"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { type FolderSourceConfig, folderSource } from "../../../../src/layers/sources/folder/folderSource.ts"
import { HasDevServer } from "../../../../src/services/ContentServer.ts"
import { BaseFolder, type FetchTarget, type PreviousContent } from "../../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"
import { contentSourceContract } from "../../../../src/testing/contentSourceContract.ts"
import { withLog } from "../../../support/logged.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { sha256 } from "../../../support/sha256.ts"
import { somebodySleepsFor } from "../../../support/waiting.ts"
import { note, textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)
const run = Effect.provide(environment)

type Files = Readonly<Record<string, string>>

const objects = "id,title,year\r\n1,Fog Bell,1862\r\n2,,\r\n"
const example: Files = {
  "Objects.csv": objects,
  "photos/bell.jpg": "a bell",
  "Settings.json": '{"b":1,"a":true}'
}

const setUp = (files: Files = example, config: Partial<FolderSourceConfig> = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const folder = yield* fileSystem.makeTempDirectoryScoped()
    const place = (path: string) => join(folder, "content", path)
    const edit = (action: () => Promise<unknown>) => Effect.promise(action)
    const write = (path: string, content: string) =>
      edit(async () => {
        await mkdir(dirname(place(path)), { recursive: true })
        await writeFile(place(path), content)
      })
    yield* Effect.forEach(Object.entries(files), ([path, content]) => write(path, content))
    const {
      changes,
      fetch: fetchSource,
      poll
    } = yield* folderSource({ id: "exhibits", directory: "content", ...config }).make.pipe(
      Effect.provideService(BaseFolder, folder)
    )
    const source = {
      fetch: fetchSource,
      poll: (cursor: Option.Option<string>) => poll?.(cursor) ?? Effect.dieMessage("It has no poll"),
      changes: changes ?? Stream.dieMessage("It has no changes")
    }
    let versions = 0

    /** Returns the fetch, and its content as a version would have it. */
    const fetch = (target: Partial<FetchTarget> = {}) =>
      Effect.gen(function* () {
        const directory = join(folder, `version ${versions++}`, "exhibits")
        yield* Effect.promise(() => mkdir(directory, { recursive: true }))
        const given = { directory, previous: Option.none(), progress: () => Effect.void, ...target }
        const { value: fetched } = yield* withAdvancingClock(source.fetch(given))
        const isUnchanged = Option.exists(given.previous, ({ fingerprint }) =>
          Option.contains(fingerprint, fetched.fingerprint)
        )
        if (isUnchanged) return { ...fetched, directory, previous: given.previous }
        const digests = Object.entries(fetched.digests ?? {})
        const stats = yield* Effect.promise(() =>
          Promise.all(digests.map(([path]) => stat(join(directory, path))))
        )
        const previous: PreviousContent = {
          directory,
          fingerprint: Option.some(fetched.fingerprint),
          files: Object.fromEntries(
            digests.map(([path, sha256], index) => [path, { size: stats[index]?.size ?? 0, sha256 }])
          ),
          times: new Map(
            digests.map(([path], index) => {
              const { birthtimeMs: made = 0, mtimeMs: modified = 0 } = stats[index] ?? {}
              return [path, { made, modified }]
            })
          )
        }
        return { ...fetched, directory, previous: Option.some(previous) }
      })

    return {
      source,
      fetch,
      place,
      edit,
      write,
      folder,
      failure: Effect.map(Effect.flip(fetch()), ({ message }) => message.replaceAll(folder, "…")),
      poll: (cursor: Option.Option<string> = Option.none()) =>
        Effect.map(withAdvancingClock(source.poll(cursor)), ({ value }) => value),
      text: (directory: string, path: string) => Effect.promise(() => readFile(join(directory, path), "utf8"))
    }
  })

const folderOf = (files: Files, config: Partial<FolderSourceConfig> = {}) =>
  Effect.flatMap(setUp(files, config), ({ failure }) => failure)

contentSourceContract(
  "a folder",
  Effect.map(setUp(), ({ source, write }) => {
    let edits = 0
    return {
      source: { id: "exhibits", ...source },
      edit: Effect.suspend(() => write("Objects.csv", `${objects}${++edits}${"x".repeat(edits)},a,b\n`))
    }
  }).pipe(run),
  { polls: true }
)

/** Saves a file as programs do. */
const waysToSave: Readonly<Record<string, (file: string, content: string) => Promise<void>>> = {
  "in place": (file, content) => writeFile(file, content),
  "in two halves": async (file, content) => {
    await writeFile(file, content.slice(0, 5))
    await appendFile(file, content.slice(5))
  },
  "by a new file of the same name": async (file, content) => {
    await writeFile(`${file}.tmp`, content)
    await rename(`${file}.tmp`, file)
  },
  "by removing the old file first": async (file, content) => {
    await rm(file)
    await writeFile(file, content)
  },
  "in a folder that is new": async (file, content) => {
    await mkdir(join(dirname(file), "new", "more"), { recursive: true })
    await writeFile(join(dirname(file), "new", "more", "a.txt"), content)
  },
  "by removing it": (file) => rm(file)
}

const temporary = Effect.flatMap(FileSystem.FileSystem, (fileSystem) => fileSystem.makeTempDirectoryScoped())

const leasing = `
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
time.sleep(60)
`

/** A program that keeps a file open until it is killed, if Python and the kernel allow this. */
const hold = (file: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly holder: ChildProcess; readonly isHeld: boolean }>((resume) => {
      const holder = spawn("python3", ["-c", leasing, file], { stdio: ["ignore", "pipe", "ignore"] })
      holder.stdout.once("data", () => resume(Effect.succeed({ holder, isHeld: true })))
      holder.once("error", () => resume(Effect.succeed({ holder, isHeld: false })))
      holder.once("exit", () => resume(Effect.succeed({ holder, isHeld: false })))
    }),
    ({ holder }) => Effect.sync(() => holder.kill("SIGKILL"))
  )

describe("a folder that is watched", () => {
  it.scopedLive("reports a change, in whatever way a file was saved", () =>
    Effect.gen(function* () {
      const reported: Array<string> = []
      const saving = Effect.forEach(
        Object.entries(waysToSave),
        ([way, save]) =>
          Effect.gen(function* () {
            const { edit, place, source } = yield* setUp()
            const { cursor } = yield* source.poll(Option.none())
            const changes = yield* Queue.unbounded<void>()
            yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(changes, undefined)))
            yield* edit(() => save(place("Objects.csv"), "id\n7\n"))
            yield* Queue.take(changes)
            if ((yield* source.poll(Option.some(cursor))).changed === "everything") reported.push(way)
          }),
        { concurrency: "unbounded" }
      )
      yield* Effect.timeoutOption(saving, "30 seconds")
      expect(reported.sort()).toEqual(Object.keys(waysToSave).sort())
    }).pipe(run)
  )

  it.scoped("is polled if it cannot be watched, and reports when it disappears and comes back", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { edit, place, poll, source, write } = yield* setUp().pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...fileSystem,
          watch: () => Stream.dieMessage("no watching here")
        })
      )
      const { cursor } = yield* poll()
      const changes = yield* Queue.unbounded<void>()
      yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(changes, undefined)))
      yield* withAdvancingClock(Effect.sleep("1 minute"))
      expect(yield* Queue.size(changes)).toBe(0)

      yield* write("Objects.csv", "id\n7\n")
      const { took } = yield* withAdvancingClock(Queue.take(changes))
      expect(took).toBeLessThanOrEqual(7000)
      const edited = yield* poll(Option.some(cursor))
      expect(edited.changed).toBe("everything")

      yield* edit(() => rename(place(""), place("../away")))
      yield* withAdvancingClock(Queue.take(changes))
      const { value: error } = yield* withAdvancingClock(Effect.flip(source.poll(Option.some(edited.cursor))))
      expect(error).toMatchObject({ isTransient: true })
      yield* edit(() => rename(place("../away"), place("")))
      yield* withAdvancingClock(Queue.take(changes))
      expect(yield* poll(Option.some(edited.cursor))).toEqual({ cursor: edited.cursor, changed: "nothing" })
    }).pipe(run)
  )

  it.scoped("is polled once while a file is always being written, and again when it is finished", () =>
    Effect.gen(function* () {
      const { edit, place, poll, source } = yield* setUp()
      const { cursor } = yield* poll()
      const changes = yield* Queue.unbounded<void>()
      yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(changes, undefined)))
      let writes = 0
      const write = edit(() => writeFile(place("visitors.log"), writes++ % 2 === 0 ? "longer" : "short"))
      const writing = yield* Effect.fork(Effect.repeat(write, Schedule.spaced("300 millis")))
      yield* withAdvancingClock(Queue.take(changes))
      const { changed } = yield* poll(Option.some(cursor))
      expect(changed).toMatchObject({ reason: expect.stringMatching(/^visitors\.log: /), isGrowing: false })
      yield* withAdvancingClock(Effect.sleep("2 minutes"))
      expect(yield* Queue.size(changes)).toBe(0)
      yield* Fiber.interrupt(writing)
      yield* withAdvancingClock(Queue.take(changes))
      expect((yield* poll(Option.some(cursor))).changed).toBe("everything")
    }).pipe(run)
  )
})

describe("a folder whose fetch failed", () => {
  it.scoped("is fetched again after a minute, then at doubling pauses, although nobody changes it", () =>
    Effect.gen(function* () {
      const { fetch, place, poll, source, write } = yield* setUp()
      const changes = yield* Queue.unbounded<void>()
      yield* write("../file", "")
      let { cursor } = yield* poll()
      yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(changes, undefined)))
      for (const minutes of [1, 2, 4]) {
        yield* Effect.flip(fetch({ directory: place("../file/no folder") }))
        const { took } = yield* withAdvancingClock(Queue.take(changes))
        expect(Math.floor(took / 60_000)).toBe(minutes)
        const answer = yield* poll(Option.some(cursor))
        expect(answer.changed).toBe("everything")
        cursor = answer.cursor
      }
      yield* fetch()
      yield* withAdvancingClock(Effect.sleep("10 minutes"))
      expect(yield* Queue.size(changes)).toBe(0)
    }).pipe(run)
  )
})

describe("a folder as a source", () => {
  it.scoped("saves CSV and JSON at its top as documents, and other files unchanged", () =>
    Effect.gen(function* () {
      const { fetch, text } = yield* setUp({ ...example, "more/data.json": "{ }", "more/list.csv": "a\n" })
      const fetched = yield* fetch()
      expect(yield* text(fetched.directory, "Objects.json")).toBe(
        '[\n{"id":"1","title":"Fog Bell","year":"1862"},\n{"id":"2"}\n]\n'
      )
      expect(yield* text(fetched.directory, "Settings.json")).toBe('{\n  "a": true,\n  "b": 1\n}\n')
      expect(yield* text(fetched.directory, "more/data.json")).toBe("{ }")
      expect(fetched).toMatchObject({
        records: 2,
        values: 1,
        attachments: { total: 3, bytes: 11, reused: 0 },
        documents: { "Objects.json": {}, "Settings.json": {} }
      })
      expect(fetched.digests?.["photos/bell.jpg"]).toBe(sha256("a bell"))
      expect(Object.keys(fetched.digests ?? {}).sort()).toEqual([
        "Objects.json",
        "Settings.json",
        "more/data.json",
        "more/list.csv",
        "photos/bell.jpg"
      ])
    }).pipe(run)
  )

  it.scoped("saves every file unchanged with documents: false", () =>
    Effect.gen(function* () {
      const files = {
        "index.html": "<h1>Bells</h1>",
        "Objects.csv": "a;b\r\n",
        "objects.json": "{ not json",
        "prices.xlsx": "1"
      }
      const { fetch, text } = yield* setUp(files, { documents: false })
      const { digests, directory, records, warnings } = yield* fetch()
      expect(Object.keys(digests ?? {}).sort()).toEqual(Object.keys(files).sort())
      expect(yield* text(directory, "objects.json")).toBe("{ not json")
      expect({ records, warnings }).toEqual({ records: 0, warnings: undefined })
    }).pipe(run)
  )

  it.scoped("is empty before the first build of a page, and keeps the last build while another is made", () =>
    Effect.gen(function* () {
      const { edit, fetch, place, poll, write } = yield* setUp({}, { documents: false })
      const { cursor } = yield* poll()
      const { digests, previous } = yield* fetch()
      expect(digests).toEqual({})
      expect(yield* poll(Option.some(cursor))).toEqual({ cursor, changed: "nothing" })
      yield* write("assets/a.js", "1")
      yield* write("index.html", "<h1>Bells</h1>")
      expect((yield* poll(Option.some(cursor))).changed).toBe("everything")
      const built = yield* fetch({ previous })
      expect(Object.keys(built.digests ?? {})).toEqual(["index.html", "assets/a.js"])
      for (const gone of [place("index.html"), place("assets"), place("")]) {
        yield* edit(() => rm(gone, { recursive: true }))
        const { message } = yield* Effect.flip(fetch({ previous: built.previous }))
        expect(message).toContain("index.html: no longer exists. Is the page being built?")
      }
    }).pipe(run)
  )

  it.scoped.each([true, false])(
    "logs that there is no build while it is watched, unless a dev server serves the page: %s",
    (dev) => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const { fetch, folder, source } = yield* setUp({}, { documents: false })
        yield* fetch()
        expect(lines).toEqual([])
        yield* Effect.forkScoped(Stream.runDrain(source.changes))
        yield* somebodySleepsFor("5 seconds")
        const text = `INFO The page in ${folder}/content is not built yet. Build it, for example with "npm run build"; the screens then show it.`
        expect(lines).toEqual(dev ? [] : [text])
      }).pipe(Effect.provideService(HasDevServer, dev), withLog(lines), run)
    }
  )

  it.scoped("may lose the build while a dev server serves the page", () =>
    Effect.gen(function* () {
      const { edit, fetch, place } = yield* setUp({ "index.html": "<h1>Bells</h1>" }, { documents: false })
      const built = yield* fetch()
      yield* edit(() => rm(place(""), { recursive: true }))
      expect((yield* fetch({ previous: built.previous })).digests).toEqual({})
    }).pipe(Effect.provideService(HasDevServer, true), run)
  )

  it.scoped("uses the options for keys, expectations and steps", () =>
    Effect.gen(function* () {
      const { fetch, text } = yield* setUp(example, {
        keys: { Objects: "title" },
        steps: [(document, { name }) => (name === "Settings" ? { steps: true } : document)],
        expect: { Objects: { minRecords: 1 } }
      })
      const fetched = yield* fetch()
      expect(fetched.documents).toEqual({ "Objects.json": { key: ["title"] }, "Settings.json": {} })
      expect(yield* text(fetched.directory, "Settings.json")).toContain("steps")
    }).pipe(run)
  )

  it.scoped(
    "copies files, so that no version changes with them, and links unchanged files from the previous version",
    () =>
      Effect.gen(function* () {
        const { edit, fetch, place, text, write } = yield* setUp({ ...example, "photos/fog.jpg": "fog" })
        const first = yield* fetch()
        yield* edit(() => appendFile(place("photos/bell.jpg"), ", rung"))
        expect(yield* text(first.directory, "photos/bell.jpg")).toBe("a bell")
        yield* write("photos/new.jpg", "new")
        const second = yield* fetch({ previous: first.previous })
        expect(second.attachments).toMatchObject({ total: 3, reused: 1 })
        expect(yield* text(second.directory, "photos/bell.jpg")).toBe("a bell, rung")
        const inode = (directory: string) =>
          edit(async () => (await stat(join(directory, "photos/fog.jpg"))).ino)
        expect(yield* inode(second.directory)).toBe(yield* inode(first.directory))
      }).pipe(run)
  )

  it.scoped(
    "has another fingerprint after an edit that keeps the size, and the same after a file was only touched",
    () =>
      Effect.gen(function* () {
        const { edit, fetch, place, poll, write } = yield* setUp()
        const before = yield* poll()
        const first = yield* fetch()
        yield* edit(() => utimes(place("photos/bell.jpg"), 1, 1))
        const touched = yield* poll(Option.some(before.cursor))
        expect(touched.changed).toBe("everything")
        const same = yield* fetch({ previous: first.previous })
        expect(same).toMatchObject({ fingerprint: first.fingerprint, attachments: { reused: 1 } })
        yield* write("photos/bell.jpg", "a Bell")
        expect((yield* fetch({ previous: first.previous })).fingerprint).not.toBe(first.fingerprint)
      }).pipe(run)
  )

  it.scoped("ignores files that systems and programs put there", () =>
    Effect.gen(function* () {
      const names = [
        ".DS_Store",
        ".git/config",
        "Thumbs.db",
        "~$Objects.csv",
        "a.mp4.crdownload",
        "x.tmp",
        "a.csv~",
        "film.mp4.filepart",
        "#recycle/old.jpg",
        "Network Trash Folder/old.jpg",
        "Objects.csv.sb-515b24a2-00Ug5l/Objects.csv",
        "photos/(A Document Being Saved By Preview)/bell.jpg",
        "photos/bell.jpg.sb-515b24a2-00Ug5l",
        "#Objects.csv#",
        "bell.jpg.!ut",
        "bell.jpg.!qB"
      ]
      const content = ["#1.jpg", "bell.sb-2026.jpg", "being saved by the museum.jpg"]
      const { fetch } = yield* setUp({
        ...example,
        ...Object.fromEntries([...names, ...content].map((name) => [name, "x"]))
      })
      const saved = Object.keys((yield* fetch()).digests ?? {})
      expect(saved).toHaveLength(3 + content.length)
      expect(saved).toEqual(expect.arrayContaining(content))
    }).pipe(run)
  )

  it.scoped("follows symbolic links to its own files, and refuses others", () =>
    Effect.gen(function* () {
      const { edit, failure, fetch, place, text, write } = yield* setUp()
      yield* edit(() => symlink(place("photos/bell.jpg"), place("bell.jpg")))
      expect(yield* text((yield* fetch()).directory, "bell.jpg")).toBe("a bell")
      yield* edit(() => symlink(place("photos"), place("pictures")))
      expect(yield* failure).toBe(
        'Source "exhibits": pictures: is a link to a folder. Copy the folder itself.'
      )
      yield* edit(() => rm(place("pictures")))
      yield* write("../secret.txt", "secret")
      yield* edit(() => symlink("../secret.txt", place("secret.txt")))
      expect(yield* failure).toBe(
        'Source "exhibits": secret.txt: is a link that leads out of the folder. Copy the file into it.'
      )
    }).pipe(run)
  )

  it.scoped.each<readonly [Files, RegExp]>([
    [{ "a.csv": "x,y\n1,2\n3\n" }, /a\.csv, row 3: the row does not have as many cells/],
    [{ "a.json": '[\n{"a":1\n' }, /a\.json, line 3, column 1: is not valid JSON/],
    [{ "a.csv": "x\n", "a.json": "[]" }, /a\.json: it and "a\.csv" would be the same document "a"/],
    [
      { "p/a.jpg": "", "p/A.jpg": "" },
      /p\/(a|A)\.jpg: it and "p\/(a|A)\.jpg" have one name for Windows or macOS/
    ],
    [{ "p/what?.jpg": "" }, /p\/what\?\.jpg: Windows cannot store a file of this name/],
    [
      { "a.json": "[]", "p/ä.jpg": "", "p/a\u0308.jpg": "" },
      /p\/ä\.jpg: it and "p\/ä\.jpg" have one name for Windows or macOS/
    ],
    [{ ".hidden": "" }, /…\/content: there are no files in this folder/]
  ])("says what is wrong with %j", ([files, message]) =>
    Effect.map(folderOf(files), (failure) => expect(failure).toMatch(message)).pipe(run)
  )

  const withLink = Effect.map(
    ScriptedServer.make(ScriptedServer.text(200, "jpeg", { "content-type": "image/jpeg" })),
    (server) => ({
      table: `id,link\n1,${server.url}/a.jpg\n`,
      config: { media: { hosts: ["127.0.0.1"] } }
    })
  )

  it.scoped(
    "changes no file of an earlier version, if own files have names like those of temporary files",
    () =>
      Effect.gen(function* () {
        const { config, table } = yield* withLink
        const own = { "Objects.json.new": "own", ".Objects.json": "own", "media/.files.json": "own" }
        const { fetch, text, write } = yield* setUp({ "Objects.csv": table, ...own }, config)
        const first = yield* fetch()
        yield* write("Objects.csv", `${table}2,\n`)
        const second = yield* fetch({ previous: first.previous })
        for (const { digests = {}, directory } of [first, second]) {
          expect(Object.keys(digests)).toEqual(
            expect.arrayContaining(["Objects.json", "Objects.json.new", "media/files.json"])
          )
          for (const [path, digest] of Object.entries(digests)) {
            expect([path, sha256(yield* text(directory, path))]).toEqual([path, digest])
          }
        }
      }).pipe(run)
  )

  it.scoped.each(["media/files.json", "media/Files.JSON"])(
    "refuses an own file %s beside files of links",
    (path) =>
      Effect.gen(function* () {
        const { config, table } = yield* withLink
        const files = { "Objects.csv": "id\n1\n", [path]: "own" }
        const { failure, fetch, text, write } = yield* setUp(files, config)
        const first = yield* fetch()
        yield* write("Objects.csv", table)
        expect(yield* Effect.flip(fetch({ previous: first.previous }))).toMatchObject({
          message: `Source "exhibits": ${path}: Vitrine writes a file of this name beside files of links. Rename your file.`
        })
        expect(yield* failure).toContain(path)
        expect(yield* text(first.directory, path)).toBe("own")
      }).pipe(run)
  )

  it.scoped("reports a document in the options that does not exist", () =>
    Effect.gen(function* () {
      expect(yield* folderOf(example, { keys: { Object: "id" } })).toBe(
        'Source "exhibits": the configuration expects Object.csv or Object.json, and this file is missing. There are: Objects.csv, Settings.json. Was it renamed?'
      )
      expect(yield* folderOf(example, { maxBytes: 20 })).toMatch(
        /Objects\.csv: it has 37 bytes, which is more than/
      )
      expect(yield* folderOf(example, { directory: "kontent" })).toBe(
        'Source "exhibits": …/kontent: cannot read this folder: there is no such folder.'
      )
      expect(yield* folderOf(example, { directory: "." })).toMatch(/the downloads folder is in this folder/)
      expect(folderSource({ id: "exhibits", directory: "" }).issues).toMatchObject([{ path: "directory" }])
    }).pipe(run)
  )

  it.scoped.each(["vitrine.config.ts", ".env"])(
    "refuses a folder with %s in it or in a folder below",
    (name) =>
      Effect.gen(function* () {
        const { folder, write } = yield* setUp()
        yield* write(`../project/${name}`, "")
        for (const directory of [join(folder, "project"), folder]) {
          const made = folderSource({ id: "exhibits", directory }).make.pipe(
            Effect.provideService(BaseFolder, join(folder, "project"))
          )
          expect((yield* Effect.flip(made)).message).toBe(
            `${directory}: ${join(folder, "project", name)} is in this folder, and everybody who can read the content could read this file. Keep content in a separate folder.`
          )
        }
      }).pipe(run)
  )

  it.scoped("is read again until no file changes while it is read", () =>
    Effect.gen(function* () {
      const { edit, fetch, place, text } = yield* setUp()
      let parts = 0
      const read = yield* fetch({
        progress: () =>
          parts++ < 3
            ? edit(() => appendFile(place("Objects.csv"), `${10 + parts},Part,${parts}\n`))
            : Effect.void
      })
      expect(parts).toBeGreaterThan(3)
      expect(JSON.parse(yield* text(read.directory, "Objects.json"))).toHaveLength(5)
      expect(yield* text(read.directory, "photos/bell.jpg")).toBe("a bell")
    }).pipe(run)
  )

  it.scoped("warns of cells that name missing files, and suggests the most similar name", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({
        "Objects.csv":
          "id,photo,film\n1,photos/bell.jpg,https://films.example/a.mp4\n\n2,photos/bel.jpg,\n3,,bell.jpg\n4,photos/IMG_0002.jpg,\n",
        "photos/IMG_0001.jpg": "a bell",
        "Tours.json": JSON.stringify([{ id: 1, stops: [{ photo: "PHOTOS\\bell.JPG" }, { photo: "a.b" }] }]),
        "Start.json": JSON.stringify({ film: "films/start.mp4" }),
        "photos/bell.jpg": "a bell"
      })
      expect(textsOf((yield* fetch()).warnings)).toEqual([
        'Objects.csv, row 4 (2), "photo": there is no file "photos/bel.jpg" in the folder. Is it "photos/bell.jpg"?',
        'Objects.csv, row 5 (3), "film": there is no file "bell.jpg" in the folder. Is it "photos/bell.jpg"?',
        'Objects.csv, row 6 (4), "photo": there is no file "photos/IMG_0002.jpg" in the folder.',
        'Start.json, "film": there is no file "films/start.mp4" in the folder.',
        'Tours.json, record 1, "stops.0.photo": there is no file "PHOTOS\\\\bell.JPG" in the folder. Is it "photos/bell.jpg"?'
      ])
    }).pipe(run)
  )

  it.scoped("warns of cells with Windows paths and URLs, which name no file", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({
        "Objects.json": JSON.stringify(
          [
            "C:\\photos\\bell 1.jpg",
            "photos/bell%201.jpg",
            "photos/bell 1.jpg?w=800",
            "photos/bell #1.jpg"
          ].map((photo, id) => ({ id, photo }))
        ),
        "photos/bell 1.jpg": "a bell",
        "photos/bell #1.jpg": "another"
      })
      expect(textsOf((yield* fetch()).warnings)).toEqual([
        ...[
          ["photos/bell%201.jpg", 2],
          ["photos/bell 1.jpg?w=800", 3]
        ].map(
          ([cell, record]) =>
            `Objects.json, record ${record}, "photo": there is no file "${cell}" in the folder. Is it "photos/bell 1.jpg"?`
        ),
        `Objects.json: "photo" leads to somebody's computer in 1 place, where screens cannot read it: C:\\photos\\bell 1.jpg. Put the file beside the content, and name it there.`
      ])
    }).pipe(run)
  )

  it.scoped.each(["\n", "\r\n", "\n\n", "\v", ",\n", ";\r\n"])(
    "warns of a cell with two files, which name none, with %j between them",
    (between) =>
      Effect.gen(function* () {
        const photo = ["photos/bell.jpg", "photos/loom.jpg"].join(between)
        const { fetch } = yield* setUp({
          "Objects.json": JSON.stringify([
            { id: 1, photo },
            { id: 2, text: "The bell of the tower.\nIts picture is photos/bell.jpg" }
          ]),
          "photos/bell.jpg": "a bell",
          "photos/loom.jpg": "a loom"
        })
        expect(textsOf((yield* fetch()).warnings)).toEqual([
          expect.stringMatching(/^Objects\.json, record 1, "photo": there is no file "photos\/bell\.jpg/)
        ])
      }).pipe(run)
  )

  it.scoped("has no warning about a cell with only the type of a file", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({
        "Objects.csv": "id,format,ending\n1,pdf,.jpg\n2,mp4,a/.png\n3,GLB,guides.pdf\n",
        "guides.pdf": "%PDF-1.4"
      })
      expect(textsOf((yield* fetch()).warnings)).toBeUndefined()
    }).pipe(run)
  )

  it.scoped("finds files of cells that end with characters that nobody sees, and warns of them inside", () =>
    Effect.gen(function* () {
      const { fetch, text } = yield* setUp({
        "Objects.csv":
          "id,photo\n1,\u200bphotos/bell.jpg\u00a0\u200b\n2,photos/be\u00adll.jpg\n3,photos/bell.j\u00adpg\n",
        "photos/bell.jpg": "a bell"
      })
      const { directory, warnings } = yield* fetch()
      expect(JSON.parse(yield* text(directory, "Objects.json"))[0]).toEqual({
        id: "1",
        photo: "photos/bell.jpg"
      })
      expect(textsOf(warnings)).toEqual([
        'Objects.csv, row 3 (2), "photo": there is no file "photos/be\\u00adll.jpg" in the folder. Is it "photos/bell.jpg"?',
        'Objects.csv, row 4 (3), "photo": there is no file "photos/bell.j\\u00adpg" in the folder. Is it "photos/bell.jpg"?'
      ])
    }).pipe(run)
  )

  it.scoped("names ten cells without a file, and counts the others", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 2000 }, (_, row) => `${row},photos/${row}.jpg`)
      const { fetch } = yield* setUp({ "Objects.csv": `id,photo\n${rows.join("\n")}\n` })
      const { warnings } = yield* fetch()
      expect(textsOf(warnings)).toHaveLength(11)
      expect(textsOf(warnings)?.at(-2)).toMatch(/row 11 \(9\), "photo": there is no file "photos\/9\.jpg"/)
      expect(textsOf(warnings)?.at(-1)).toBe("Objects.csv: 1990 more files in cells: not in the folder.")
    }).pipe(run)
  )

  it.scoped("rejects a version with a cell that names a missing file, if a file is expected", () =>
    Effect.gen(function* () {
      const { fetch, write } = yield* setUp(
        { "Objects.csv": "id,photo\n1,photos/bell.jpg\n2,\n", "photos/bell.jpg": "a bell" },
        { expect: { Objects: { fields: { photo: "file?" } } } }
      )
      yield* fetch()
      yield* write("Objects.csv", "id,photo\n1,photos/boat.jpg\n")
      expect((yield* Effect.flip(fetch())).message).toMatch(
        /expected a file in the folder or nothing, found .*photos\/boat\.jpg/
      )
    }).pipe(run)
  )

  it.scoped("finds files whether letters in names are composed or decomposed", () =>
    Effect.gen(function* () {
      const { fetch, text } = yield* setUp(
        {
          "Objects.csv": "id,photo\n1,photos/Sch\u00f6nbrunn.jpg\n2,photos/Sch\u006f\u0308nbrunn.jpg\n",
          "photos/Scho\u0308nbrunn.jpg": "a palace"
        },
        { expect: { Objects: { fields: { photo: "file" } } } }
      )
      const { directory, warnings } = yield* fetch()
      const photo = "photos/Sch\u00f6nbrunn.jpg"
      expect(textsOf(warnings)).toBeUndefined()
      expect(JSON.parse(yield* text(directory, "Objects.json"))).toEqual([
        { id: "1", photo },
        { id: "2", photo }
      ])
      expect(yield* text(directory, photo)).toBe("a palace")
    }).pipe(run)
  )

  it.scopedLive("makes smaller sizes of pictures in cells", () =>
    Effect.gen(function* () {
      const { edit, place, source, text } = yield* setUp(
        { "Objects.csv": "id,photo\n1,photos/bell.png\n2,photos/boat.png\n", "photos/a.txt": "" },
        { pictures: ["photo"], images: { widths: [2] } }
      )
      yield* edit(() =>
        sharp({ create: { width: 4, height: 2, channels: 3, background: "red" } })
          .png()
          .toFile(place("photos/bell.png"))
      )
      const directory = yield* temporary
      const { warnings } = yield* source.fetch({
        directory,
        previous: Option.none(),
        progress: () => Effect.void
      })
      expect(JSON.parse(yield* text(directory, "Objects.json"))).toMatchObject([
        { id: "1", photo: { localPath: "photos/bell.png", sizes: [{ width: 2, height: 1 }] } },
        { id: "2", photo: "photos/boat.png" }
      ])
      expect(textsOf(warnings)).toEqual([
        expect.stringMatching(/row 3 \(2\), "photo": there is no file "photos\/boat\.png"/)
      ])
    }).pipe(run)
  )

  it.scoped("names a file that is written without end, and still answers polls", () =>
    Effect.gen(function* () {
      const { edit, place, poll, source } = yield* setUp()
      const { cursor } = yield* poll()
      const writing = Effect.forever(
        Effect.zipRight(
          edit(() => appendFile(place("photos/bell.jpg"), "x")),
          Effect.sleep("300 millis")
        )
      )
      const all = Effect.gen(function* () {
        const polled = yield* source.poll(Option.some(cursor))
        const error = yield* Effect.flip(
          source.fetch({ directory: place("../v"), previous: Option.none(), progress: () => Effect.void })
        )
        return { polled, error }
      })
      const { value } = yield* withAdvancingClock(Effect.race(all, writing))
      const reason =
        "photos/bell.jpg: it is still being written, or has just changed. A file that is always being written, such as a log, belongs outside of the folder"
      expect(value.polled).toEqual({ cursor, changed: { reason, isGrowing: true } })
      expect(value.error.message).toBe(
        'Source "exhibits": photos/bell.jpg: it is still being written, or has just changed.'
      )
      expect(value.error.isTransient).toBe(true)
    }).pipe(run)
  )

  it.scoped("links and reads nothing again after a restart if nothing has changed", () =>
    Effect.gen(function* () {
      const { edit, fetch, folder, place } = yield* setUp()
      yield* edit(() => utimes(place("photos/bell.jpg"), 1_700_000_000, 1_700_000_000.25))
      const { directory, fingerprint, previous } = yield* fetch()
      const started = yield* folderSource({ id: "exhibits", directory: join(folder, "content") }).make
      const target = { directory: join(folder, "unchanged"), previous, progress: () => Effect.void }
      yield* edit(() => mkdir(target.directory))
      yield* edit(() => writeFile(join(directory, "photos/bell.jpg"), "a boat"))
      yield* edit(() => utimes(join(directory, "photos/bell.jpg"), 1_700_000_000, 1_700_000_000.25))
      const { value } = yield* withAdvancingClock(started.fetch(target))
      expect(value).toMatchObject({ fingerprint, attachments: { total: 1, reused: 1 } })
      expect(yield* edit(() => readdir(target.directory))).toEqual(["Objects.json", "Settings.json"])
    }).pipe(run)
  )

  it.scoped.each<readonly [string, (place: (path: string) => string) => Promise<unknown>, RegExp]>([
    [
      "a link that leads out",
      (place) => rm(place("photos/bell.jpg")).then(() => symlink("/etc/hostname", place("photos/bell.jpg"))),
      /photos\/bell\.jpg: is a link that leads out of the folder/
    ],
    [
      "a pipe that nobody writes into",
      async (place) => {
        await rm(place("photos/bell.jpg"))
        execFileSync("mkfifo", [place("photos/bell.jpg")])
      },
      /^none$/
    ],
    [
      "a folder that is somewhere else now",
      async (place) => {
        await rename(place("photos"), place("../photos"))
        await symlink(place("../photos"), place("photos"))
      },
      /photos: is a link that leads out of the folder/
    ]
  ])("copies nothing of a file that is replaced by %s after it was checked", ([, exchange, message]) =>
    Effect.gen(function* () {
      const { edit, fetch, place } = yield* setUp()
      let isExchanged = false
      const fetched = yield* Effect.either(
        fetch({
          progress: ({ attachments }) => {
            if (isExchanged || attachments?.done !== 0) return Effect.void
            isExchanged = true
            return edit(() => exchange(place))
          }
        })
      )
      expect(isExchanged).toBe(true)
      const said = Either.match(fetched, {
        onLeft: (error) => error.message,
        onRight: ({ attachments }) => (attachments === undefined ? "none" : "copied")
      })
      expect(said).toMatch(message)
    }).pipe(run)
  )

  it.scoped("copies the target of a symbolic link, and the new target when the link changes", () =>
    Effect.gen(function* () {
      const { edit, fetch, place, text, write } = yield* setUp()
      yield* edit(() => symlink("photos/bell.jpg", place("first.jpg")))
      yield* write("photos/boat.jpg", "a boat")
      const first = yield* fetch()
      expect(yield* text(first.directory, "first.jpg")).toBe("a bell")
      yield* edit(() => rm(place("first.jpg")))
      yield* edit(() => symlink("photos/boat.jpg", place("first.jpg")))
      const second = yield* fetch({ previous: first.previous })
      expect(yield* text(second.directory, "first.jpg")).toBe("a boat")
    }).pipe(run)
  )

  // The kernel refuses a file to others while a program has a lease on it, as Windows does while a program has it open.
  it.scopedLive("waits until another program has closed a file", () =>
    Effect.gen(function* () {
      const { place, source, write } = yield* setUp()
      const { holder, isHeld } = yield* hold(place("photos/bell.jpg"))
      if (!isHeld) return
      yield* write("photos/boat.jpg", "a boat")
      const { cursor } = yield* source.poll(Option.none())
      const fetching = yield* Effect.fork(
        source.fetch({ directory: yield* temporary, previous: Option.none(), progress: () => Effect.void })
      )
      yield* Effect.sleep("2 seconds")
      expect(Option.isNone(yield* Fiber.poll(fetching))).toBe(true)
      holder.kill("SIGKILL")
      expect((yield* Fiber.join(fetching)).attachments).toMatchObject({ total: 2 })
      expect((yield* source.poll(Option.some(cursor))).changed).toBe("everything")
    }).pipe(run)
  )

  it.scoped("leaves out a file whose name is not UTF-8, with a warning", () =>
    Effect.gen(function* () {
      const { edit, fetch, place } = yield* setUp()
      if (process.platform !== "linux") return
      const folder = Buffer.from(`${place("photos")}/`)
      yield* edit(() => writeFile(Buffer.concat([folder, Buffer.from("b\xfccher.jpg", "latin1")]), "x"))
      expect(yield* fetch()).toMatchObject({
        attachments: { total: 1 },
        warnings: [
          note("photos/b\ufffdcher.jpg: the name of this file is no UTF-8, so it is left out. Rename it.")
        ]
      })
    }).pipe(run)
  )

  it.scoped("leaves out pipes and sockets, with a warning", () =>
    Effect.gen(function* () {
      const { edit, fetch, place } = yield* setUp()
      yield* edit(async () => execFileSync("mkfifo", [place("photos/pipe")]))
      yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const server = createServer().listen(place("socket"), () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { digests, warnings } = yield* fetch()
      expect(Object.keys(digests ?? {}).sort()).toEqual(["Objects.json", "Settings.json", "photos/bell.jpg"])
      expect(textsOf(warnings)).toEqual([
        "socket: it is a socket, and no file, so it is left out.",
        "photos/pipe: it is a pipe, and no file, so it is left out."
      ])
    }).pipe(run)
  )

  it.scoped("refuses empty pictures, but no other empty files", () =>
    Effect.gen(function* () {
      expect(yield* folderOf({ "photos/bell.jpg": "" })).toMatch(
        /photos\/bell\.jpg: is empty, .*Copy it again, or remove it/
      )
      const { fetch } = yield* setUp({ "notes.txt": "" })
      expect(textsOf((yield* fetch()).warnings)).toBeUndefined()
    }).pipe(run)
  )

  it.scoped(
    "warns of files that no browser displays at every fetch, with any names, and after a restart",
    () =>
      Effect.gen(function* () {
        const { edit, fetch, place } = yield* setUp({
          "A.csv": "id,photo\n1,a.jpg\n",
          "a.jpg": "\0\0\0\x18ftypheic\0\0\0\0mif1heic",
          "b.psd": "8BPS\0\x01",
          "c.jpg": "<!doctype html><p>Not found</p>",
          "d.svg": "<?xml version='1.0'?><svg/>",
          "e.mp4": "<html><p>Log in</p></html>",
          "f.pdf": "<!doctype html><p>Log in</p>",
          "g.x3d": "<?xml version='1.0'?><X3D/>",
          "h.ts": "<?xml version='1.0'?><!DOCTYPE TS><TS/>",
          "i.glb": "\0".repeat(300_000)
        })
        const warnings = [
          "a.jpg: it is HEIC, which browsers do not show: export it as JPEG.",
          "b.psd: it is a file of Photoshop, which browsers do not show: export it as JPEG.",
          "c.jpg: it is an HTML page, not image/jpeg: perhaps a login or error page. Replace it with the right file.",
          "e.mp4: it is an HTML page, not video/mp4: perhaps a login or error page. Replace it with the right file.",
          "f.pdf: it is an HTML page, not application/pdf: perhaps a login or error page. Replace it with the right file.",
          "i.glb: it begins with nothing but zeros, perhaps because copying was interrupted. Copy it again."
        ]
        const first = yield* fetch()
        expect(textsOf(first.warnings)).toEqual(warnings)
        expect(textsOf((yield* fetch({ previous: first.previous })).warnings)).toEqual(warnings)
        const restarted = yield* folderSource({ id: "exhibits", directory: place(".") }).make
        const target = { directory: place("../v"), previous: first.previous, progress: () => Effect.void }
        yield* edit(() => mkdir(target.directory))
        expect(textsOf((yield* withAdvancingClock(restarted.fetch(target))).value.warnings)).toEqual(warnings)
        yield* edit(() => rm(place("b.psd")))
        expect(textsOf((yield* fetch({ previous: first.previous })).warnings)).toEqual([
          warnings[0],
          ...warnings.slice(2)
        ])
      }).pipe(run)
  )

  it.scoped("reports a file that the user may not read", () =>
    Effect.gen(function* () {
      const { edit, failure, place } = yield* setUp()
      if (process.getuid?.() === 0) return
      yield* edit(() => chmod(place("Objects.csv"), 0))
      expect(yield* failure).toMatch(/Objects\.csv: cannot be read: permission denied/)
      yield* edit(() => rename(place("Objects.csv"), place("photos/Objects.csv")))
      expect(yield* failure).toMatch(/photos\/Objects\.csv: cannot be read: permission denied/)
    }).pipe(run)
  )
})
