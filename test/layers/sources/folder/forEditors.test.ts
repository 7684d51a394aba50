import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { parseCsvTable } from "../../../../src/layers/documents/csvText.ts"
import { Records, wholeOf } from "../../../../src/layers/documents/Document.ts"
import { makeExpectations } from "../../../../src/layers/documents/expect/Expectations.ts"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { type FolderSourceConfig, folderSource } from "../../../../src/layers/sources/folder/folderSource.ts"
import { violationText } from "../../../../src/layers/status/contentText.ts"
import { BaseFolder } from "../../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"
import { withLocked } from "../../../support/lockedFiles.ts"
import { withLog } from "../../../support/logged.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)
const run = Effect.provide(environment)

const setUp = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>>,
  config: Partial<FolderSourceConfig> = {}
) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "vitrine-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const write = (path: string, content: string) =>
    Effect.promise(async () => {
      await mkdir(join(folder, "content"), { recursive: true })
      await writeFile(join(folder, "content", path), content)
    })
  yield* Effect.forEach(Object.entries(files), ([path, content]) => write(path, content))
  const source = yield* folderSource({ id: "exhibits", directory: "content", ...config }).make.pipe(
    Effect.provideService(BaseFolder, folder)
  )
  let versions = 0
  const fetch = Effect.gen(function* () {
    const directory = join(folder, `version ${versions++}`)
    yield* Effect.promise(() => mkdir(directory))
    const { value } = yield* withAdvancingClock(
      source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    )
    const saved = (name: string) =>
      Effect.promise(async (): Promise<unknown> => JSON.parse(await readFile(join(directory, name), "utf8")))
    return { ...value, saved }
  })
  const failure = Effect.map(Effect.flip(fetch), ({ message }) => message.replaceAll(folder, "…"))
  return { folder, source, write, fetch, failure }
})

const settings = "key,value\ntitle,The Lighthouse\nidle,90\nloop,true\nslides[0],a\nslides[1],b\nempty,\n"

describe("key/value tables of a folder", () => {
  it.scoped("become one object, like the tables of Airtable", () =>
    Effect.gen(function* () {
      const { fetch, source } = yield* setUp(
        { "Settings.csv": settings, "Objects.csv": "id\n1\n2\n" },
        { keyValueTables: ["Settings"], expect: { Settings: { fields: { title: "text", empty: "text?" } } } }
      )
      const { records, saved, values } = yield* fetch
      expect(yield* saved("Settings.json")).toEqual({
        empty: null,
        idle: 90,
        loop: true,
        slides: ["a", "b"],
        title: "The Lighthouse"
      })
      expect([records, values]).toEqual([2, 1])
      expect(yield* source.schema ?? Effect.void).toMatchObject({ Settings: { holds: "value" } })
    }).pipe(run)
  )

  it.scoped("name files by their keys", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(
        { "Settings.csv": "key,value\nlogo,./logo.svg\nfilm,lost.mp4\n", "logo.svg": "<svg/>" },
        { keyValueTables: ["Settings"] }
      )
      const { saved, warnings } = yield* fetch
      expect(yield* saved("Settings.json")).toMatchObject({
        film: "lost.mp4",
        logo: "logo.svg"
      })
      expect(textsOf(warnings)).toEqual([expect.stringContaining('"film": there is no file "lost.mp4"')])
    }).pipe(run)
  )

  it.scoped("that are not in the folder are an error that lists the tables", () =>
    Effect.gen(function* () {
      const config = { keyValueTables: ["Settings"] }
      const others = yield* setUp({ "Objects.csv": "id\n1\n", "Settings.json": "{}" }, config)
      expect(yield* others.failure).toBe(
        'Source "exhibits": the configuration expects Settings.csv, and this file is missing. There are: Objects.csv. Was it renamed?'
      )
      const spreadsheet = yield* setUp({ "Settings.xlsx": "x" }, config)
      expect(yield* spreadsheet.failure).toContain("Settings.xlsx is a spreadsheet: export it as CSV")
    }).pipe(run)
  )

  it.scoped("name the rows that clash, or have no key", () =>
    Effect.gen(function* () {
      const config = { keyValueTables: ["Settings"] }
      const clash = yield* setUp({ "Settings.csv": "key,value\na,1\nb,2\na[0],3\n" }, config)
      expect(yield* clash.failure).toContain(
        'Settings.csv: the key "a" is a value and an array at once (rows 2, 4)'
      )
      const { fetch } = yield* setUp({ "Settings.csv": "key,value\na,1\n,2\n" }, config)
      expect(textsOf((yield* fetch).warnings)?.join()).toContain(
        'Settings.csv: 1 row has no text in the column "key" and is left out (row 3). Write a key.'
      )
    }).pipe(run)
  )
})

const table = 'id,title_de,note\n1,Glocke,\n2,Netz,"two\nlines"\n\n3,,\n4,,\n'
const expected = { Objects: { fields: { title_de: "text", note: "text?" } } } as const

describe("what is expected of CSV", () => {
  it.scoped("names the file and the rows", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ "Objects.csv": table }, { expect: expected })
      const { violations } = yield* Effect.flip(fetch)
      expect(violations?.map(violationText)).toEqual([
        'Objects.csv, rows 5 (3), 6 (4), "title_de": expected text, found nothing.'
      ])
      const rows = [
        { row: 5, id: "3" },
        { row: 6, id: "4" }
      ]
      expect(violations).toMatchObject([{ file: "Objects.csv", rows, recordId: "3", records: 2 }])
    }).pipe(run)
  )

  it.scoped.each<[string, Partial<FolderSourceConfig>]>([
    ["steps", { steps: [(records) => records.map((record) => ({ ...record, more: true }))] }],
    ["a step that leaves records out", { steps: [(records) => records.filter(({ id }) => id !== "1")] }],
    ["links", { links: { note: "Objects" } }]
  ])("names the rows after %s too", ([, config]) =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ "Objects.csv": table }, { ...config, expect: expected })
      const { violations } = yield* Effect.flip(fetch)
      expect(violations?.[0]).toMatchObject({ rows: [{ row: 5 }, { row: 6 }] })
    }).pipe(run)
  )

  it.scoped("names the row of a key, and records of JSON by their ids", () =>
    Effect.gen(function* () {
      const expect_ = { fields: { title: "text" } } as const
      const { failure } = yield* setUp(
        { "Settings.csv": "key,value\nidle,1\ntitle,\n", "Makers.json": '[{"id":"m1","title":""}]' },
        { keyValueTables: ["Settings"], expect: { Settings: expect_, Makers: expect_ } }
      )
      expect(yield* failure).toContain('Settings.csv, row 3, "title": expected text, found nothing.')
      expect(yield* failure).toContain('Makers.json, record m1, "title": expected text')
    }).pipe(run)
  )

  it("counts rows as a spreadsheet does, with empty lines and line breaks in cells at any place", () => {
    const cell = FastCheck.constantFrom("", "a", '"b\nb"', '"c\n\nc"')
    const rows = FastCheck.array(FastCheck.tuple(cell, FastCheck.integer({ min: 0, max: 2 })), {
      maxLength: 20
    })
    return FastCheck.assert(
      FastCheck.asyncProperty(rows, async (rows) => {
        const text = rows.reduce(
          (text, [note, blank]) => `${text}x,${note}\n${"\n".repeat(blank)}`,
          "id,note\n"
        )
        const table = await Effect.runPromise(parseCsvTable(text))
        const wanted = rows.map((_, index) =>
          rows.slice(0, index).reduce((row, [, blank]) => row + 1 + blank, 2)
        )
        expect(table.rows).toEqual(wanted)
      }),
      { numRuns: 50 }
    )
  })
})

const rowsOf = (count: number, bad: ReadonlyArray<number>) =>
  `id,title,maker\n${Array.from({ length: count }, (_, index) => `${index},${bad.includes(index) ? "" : "a"},${index}\n`).join("")}`

const leavingOut = (leaveOut: number) => ({ Objects: { fields: { title: "text" }, leaveOut } }) as const

describe("records that may be left out", () => {
  it.scoped("are left out with a warning, and links to them stay ids", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(
        { "Objects.csv": rowsOf(10, [3]), "Tours.csv": "id,object\nt,3\nu,4\n" },
        { expect: leavingOut(0.1), links: { object: "Objects" } }
      )
      const { records, saved, warnings } = yield* fetch
      expect(records).toBe(11)
      expect(textsOf(warnings)?.filter((warning) => warning.includes("left out"))).toEqual([
        'Objects.csv, row 5 (3): is left out: "title": expected text, found nothing.'
      ])
      expect(yield* saved("Tours.json")).toEqual([
        { id: "t", object: "3" },
        { id: "u", object: { id: "4", maker: "4", title: "a" } }
      ])
    }).pipe(run)
  )

  it.scoped("reject the version beyond the share, and all are named", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ "Objects.csv": rowsOf(10, [1, 4]) }, { expect: leavingOut(0.1) })
      const { violations } = yield* Effect.flip(fetch)
      expect(violations?.map(violationText)).toEqual([
        "Objects.csv: expected at most 1 of 10 records to be left out, found 2 records with mistakes.",
        'Objects.csv, rows 3 (1), 6 (4), "title": expected text, found nothing.'
      ])
    }).pipe(run)
  )

  it.scoped("do not count for the fewest records", () =>
    Effect.gen(function* () {
      const { failure } = yield* setUp(
        { "Objects.csv": rowsOf(10, [1]) },
        { expect: { Objects: { ...leavingOut(1).Objects, minRecords: 10 } } }
      )
      expect(yield* failure).toContain("expected at least 10 records, found 9 records")
    }).pipe(run)
  )

  it.scoped.each([
    [0.29, 29, 100],
    [0.58, 29, 50]
  ] as const)("may be as many as the share says, also if %d is no exact number", ([leaveOut, bad, all]) =>
    Effect.gen(function* () {
      const rows = Array.from({ length: all }, (_, index) => `${index},${index < bad ? "" : "a"}`)
      const { fetch } = yield* setUp(
        { "Objects.csv": `id,title\n${rows.join("\n")}\n` },
        { expect: leavingOut(leaveOut) }
      )
      expect((yield* fetch).records).toBe(all - bad)
    }).pipe(run)
  )

  it("are as many as the share says, with any pages", () => {
    const page = FastCheck.array(
      FastCheck.record({ id: FastCheck.string(), title: FastCheck.constantFrom("", "a") })
    )
    const percent = FastCheck.integer({ min: 1, max: 100 })
    return FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(page, { maxLength: 5 }), percent, async (pages, percent) => {
        const { end, leaveOut: leave } = makeExpectations(leavingOut(percent / 100), {
          view: null,
          isAttachment: () => false
        })
        const { content } = leave(
          { name: "Objects", content: Records({ pages: Stream.fromIterable(pages) }) },
          [],
          identity
        )
        const { kept, verdict } = await Effect.gen(function* () {
          const kept = yield* wholeOf(content)
          return {
            kept,
            verdict: yield* end({ name: "Objects" }, Option.none(), Effect.succeedNone)
          }
        }).pipe(Effect.provide(NodeContext.layer), Effect.runPromise)
        const all = pages.flat()
        const good = all.filter(({ title }) => title !== "")
        expect(kept).toEqual(good)
        expect(verdict.violations.length > 0).toBe((all.length - good.length) * 100 > percent * all.length)
      }),
      { numRuns: 100 }
    )
  })
})

describe("the file with the problems of a folder", () => {
  it.scoped("lies there while something is wrong, and is no content", () =>
    Effect.gen(function* () {
      const { fetch, folder, source } = yield* setUp({ "Objects.csv": "id\n1\n" }, { problems: "file" })
      const file = join(folder, "content", "VITRINE-PROBLEMS.txt")
      const { fingerprint } = yield* fetch
      const text = 'Objects.csv, line 6, "title": expected text, found nothing.'
      const report = source.report ?? (() => Effect.void)
      yield* report([{ isRejected: true, text }])
      const written = yield* Effect.promise(() => readFile(file, "utf8"))
      expect(written).toContain(`\r\n1. ${text}\r\n`)
      expect((yield* fetch).fingerprint).toBe(fingerprint)
      yield* report([])
      expect(yield* Effect.promise(() => readFile(file, "utf8").catch(() => "gone"))).toBe("gone")
    }).pipe(run)
  )

  const told = Effect.fnUntraced(function* (id = "exhibits") {
    const { folder, source } = yield* setUp({ "Objects.csv": "id\n1\n" }, { problems: "file" })
    const content = join(folder, "content")
    const other = yield* folderSource({ id, directory: "content", problems: "file" }).make.pipe(
      Effect.provideService(BaseFolder, folder)
    )
    const tell = (to: typeof source) => (text?: string) =>
      to.report?.(text === undefined ? [] : [{ isRejected: true, text }]) ??
      Effect.dieMessage("It tells nobody")
    return {
      content,
      source,
      file: join(content, "VITRINE-PROBLEMS.txt"),
      report: tell(source),
      reportOther: tell(other),
      names: Effect.promise(async () => (await readdir(content)).toSorted()),
      text: Effect.promise(() => readFile(join(content, "VITRINE-PROBLEMS.txt"), "utf8"))
    }
  })

  it.scoped("is removed, however large somebody has made it", () =>
    Effect.gen(function* () {
      const { file, names, report } = yield* told()
      yield* Effect.promise(() => writeFile(file, ""))
      yield* Effect.promise(() => truncate(file, 6 * 1024 ** 3))
      yield* report()
      expect(yield* names).toEqual(["Objects.csv"])
    }).pipe(run)
  )

  it.scoped("lists what all sources of the folder have", () =>
    Effect.gen(function* () {
      const { names, report, reportOther, text } = yield* told("other")
      yield* report("of the first")
      yield* reportOther("of the second")
      expect(yield* text).toMatch(/of the first[\s\S]*of the second/)
      yield* report()
      expect(yield* text).not.toContain("of the first")
      yield* reportOther()
      expect(yield* names).toEqual(["Objects.csv"])
    }).pipe(run)
  )

  it.scoped("leaves no file of a killed controller, and is not written through a link", () =>
    Effect.gen(function* () {
      const { content, file, names, report, text } = yield* told()
      const elsewhere = join(content, "..", "elsewhere.txt")
      yield* Effect.promise(async () => {
        await writeFile(elsewhere, "kept")
        await symlink(elsewhere, file)
        await symlink(elsewhere, join(content, ".VITRINE-PROBLEMS.txt.tmp"))
      })
      yield* report("wrong")
      expect(yield* text).toContain("wrong")
      expect(yield* Effect.promise(() => readFile(elsewhere, "utf8"))).toBe("kept")
      yield* Effect.promise(() => writeFile(join(content, ".VITRINE-PROBLEMS.txt.tmp"), "half"))
      yield* report()
      expect(yield* names).toEqual(["Objects.csv"])
    }).pipe(run)
  )

  it.scoped(
    "is logged once if it cannot be written, and is written or removed at the next poll if it can",
    () => {
      const locked = new Set<string>()
      return Effect.gen(function* () {
        const { file, names, report, source, text } = yield* told()
        const lines: Array<string> = []
        // A file cannot replace a folder, even for root.
        yield* Effect.promise(() => mkdir(join(file, "of an editor"), { recursive: true }))
        yield* withLog(lines)(Effect.all([report("a"), report(), report("b")]))
        expect(lines.filter((line) => /^WARN .*VITRINE-PROBLEMS.txt/.test(line))).toHaveLength(1)
        expect(yield* Effect.promise(() => readdir(file))).toEqual(["of an editor"])
        const poll = withAdvancingClock(source.poll?.(Option.none()) ?? Effect.void)
        yield* Effect.promise(() => rm(file, { recursive: true }))
        yield* poll
        expect(yield* text).toContain("1. b\r\n")
        locked.add(file)
        yield* withAdvancingClock(report())
        expect(yield* text).toContain("1. b\r\n")
        locked.delete(file)
        yield* poll
        expect(yield* names).toEqual(["Objects.csv"])
      }).pipe(Effect.provide(withLocked((path) => locked.has(path))), run)
    }
  )
})
