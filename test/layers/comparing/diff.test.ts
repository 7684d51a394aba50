import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { changedFiles } from "../../../src/layers/comparing/compareVersions.ts"
import { savedText } from "../../../src/layers/documents/jsonValues.ts"
import * as ActiveVersion from "../../../src/layers/fetching/ActiveVersion.ts"
import { registerWithChanges } from "../../../src/layers/fetching/registerCommands.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ContentDiff } from "../../../src/services/ContentDiff.ts"
import { VersionStore, VersionsReport } from "../../../src/services/VersionStore.ts"
import { promoteSources } from "../../support/promote.ts"
import { inTask } from "../../support/scenario.ts"

const dispatch = (type: string, fields: object = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: `content.${type}`, ...fields }))

const diff = (fields: object = {}) =>
  Effect.flatMap(dispatch("diff", fields), Schema.decodeUnknown(ContentDiff))

const changes = Effect.flatMap(dispatch("versions"), Schema.decodeUnknown(VersionsReport)).pipe(
  Effect.map(({ versions }) => versions.map(({ changes }) => changes))
)

/** Makes a version, a second later than the previous one. */
const version = (files: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("1 second")
    const texts = Object.entries(files).map(([name, value]) => [
      name,
      typeof value === "string" ? value : `${savedText(value)}\n`
    ])
    const { manifest } = yield* promoteSources({ objects: Object.fromEntries(texts) })
    return manifest.held?.waiting ?? manifest.versionId
  })

const registered = Effect.provideServiceEffect(
  registerWithChanges("content"),
  ActiveVersion.ActiveVersion,
  ActiveVersion.silent
)

const bell = { id: "rec1", title: "Fog Bell", year: 1862 }
const lamp = { id: "rec2", title: "Lamp" }
const films = { "film.mp4": "one" }

describe("the difference of versions", () => {
  inTask("is found in a region that cannot be interrupted, too", function* () {
    yield* registered
    yield* version({ "Settings.json": { slides: 1 }, "Objects.json": [bell] })
    yield* version({ "Settings.json": { slides: 2 }, "Objects.json": [lamp] })
    expect(yield* Effect.uninterruptible(changes)).toEqual([
      undefined,
      [expect.any(String), expect.any(String)]
    ])
  })

  inTask("names records, fields and files, and says the first three changes in words", function* () {
    yield* registered
    const from = yield* version({
      "Objects.json": [lamp, bell],
      "Settings.json": { opening: "10", closing: 18 },
      "same.json": [bell],
      ...films
    })
    const to = yield* version({
      "Objects.json": [{ ...bell, year: 1863, maker: "Penrice" }, { id: "rec3" }],
      "Settings.json": { opening: "11", closing: 18 },
      "same.json": [bell],
      "other.mp4": "two"
    })
    expect(yield* diff()).toEqual({
      from,
      to,
      documents: [
        {
          sourceId: "objects",
          document: "Objects",
          path: "Objects.json",
          added: 1,
          changed: 1,
          removed: 1,
          records: [
            {
              id: "rec1",
              name: "Fog Bell",
              change: "changed",
              fields: [
                { field: "year", from: "1862", to: "1863" },
                { field: "maker", to: '"Penrice"' }
              ]
            },
            { id: "rec3", change: "added" },
            { id: "rec2", name: "Lamp", change: "removed" }
          ],
          more: 0
        },
        {
          sourceId: "objects",
          document: "Settings",
          path: "Settings.json",
          added: 0,
          changed: 1,
          removed: 0,
          records: [{ id: "opening", change: "changed", from: '"10"', to: '"11"' }],
          more: 0
        }
      ],
      files: {
        added: 1,
        changed: 0,
        removed: 1,
        list: [
          { sourceId: "objects", path: "other.mp4", change: "added" },
          { sourceId: "objects", path: "film.mp4", change: "removed" }
        ],
        more: 0
      }
    })
    expect(yield* changes).toEqual([
      undefined,
      [
        'Objects: "Fog Bell" year 1862 → 1863 and 1 more field, 2 more',
        'Settings: opening "10" → "11"',
        "files: other.mp4 added, 1 more"
      ]
    ])
  })

  it.each([
    [0, 0, true],
    [undefined, 0, true],
    [1, 0, false],
    [0, 1, false]
  ])(
    "lists JSON files as files if a source has no records: %s before, and %s now",
    (before, records, isFile) => {
      const list = (records: number | undefined, sha256: string) =>
        records === undefined ? [] : [{ sourceId: "page", records, files: { "a.json": { size: 1, sha256 } } }]
      expect(changedFiles(list(before, "a"), list(records, "b"))).toMatchObject([{ path: "a.json", isFile }])
    }
  )

  inTask(
    "compares the latest two versions, two named ones, or the active with the waiting one",
    function* () {
      yield* registered
      const store = yield* VersionStore
      const [one, two, three] = yield* Effect.forEach(["1", "2", "3"], (text) => version({ text }))
      const pair = (fields?: object) => Effect.map(diff(fields), ({ from, to }) => [from, to])
      expect(yield* pair()).toEqual([two, three])
      expect(yield* pair({ to: two })).toEqual([one, two])
      expect(yield* pair({ from: one })).toEqual([one, three])
      expect(yield* diff({ from: three, to: three })).toMatchObject({ documents: [], files: { list: [] } })
      yield* store.hold({ versionId: one ?? "" })
      const four = yield* version({ text: "4" })
      expect(yield* pair()).toEqual([one, four])
    }
  )

  inTask(
    "is missing in the list while a version cannot be read, and there again afterwards",
    function* ({ fs }) {
      yield* registered
      const { directory } = yield* VersionStore
      const from = yield* version({ "Objects.json": [bell] })
      yield* version({ "Objects.json": [bell, lamp] })
      const list = `${directory}/versions/${from}/files.json`
      const text = yield* fs.readFileString(list)
      yield* fs.remove(list)
      expect(yield* changes).toEqual([undefined, undefined])
      yield* fs.writeFileString(list, text)
      expect(yield* changes).toEqual([undefined, ['Objects: "Lamp" added']])
    }
  )

  inTask("names a version that does not exist", function* () {
    yield* registered
    const problem = (fields?: object) =>
      Effect.map(Effect.flip(diff(fields)), ({ cause, message }) => String(cause ?? message))
    expect(yield* problem()).toContain("Cannot compare: no version is active. On disk: no versions.")
    const only = yield* version({ text: "1" })
    expect(yield* problem()).toContain(`no version is older than ${only}. On disk: ${only}.`)
    expect(yield* problem({ from: "../x" })).toContain('there is no version "../x"')
  })

  inTask("lists some of many changes, and counts all of them", function* () {
    yield* registered
    const records = (field: object) =>
      Array.from({ length: 3000 }, (_, index) => ({ id: `rec${index}`, ...field }))
    const wide = (value: number) =>
      Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, value]))
    yield* version({ "a.json": [], "b.json": records(wide(1)), "text.json": { text: "x".repeat(500) } })
    yield* version({
      "a.json": records({}).slice(0, 400),
      "b.json": records(wide(2)),
      "text.json": { text: `${"x".repeat(400)}\u001b[2J\u202ey${"x".repeat(99)}` }
    })
    const { documents } = yield* diff()
    expect(documents).toMatchObject([
      { added: 400, more: 0 },
      { changed: 3000, more: 2694 },
      { changed: 1, more: 0 }
    ])
    expect(documents[1]?.records[0]).toMatchObject({ id: "rec0", moreFields: 2 })
    expect(documents[1]?.records[0]?.fields).toHaveLength(10)
    expect(yield* changes).toEqual([
      undefined,
      [
        "a: rec0 added, 399 more",
        "b: rec0 f0 1 → 2 and 11 more fields, 2999 more",
        `text: text …${"x".repeat(39)}… → …${"x".repeat(20)}\\u001b[2J�y${"x".repeat(8)}…`
      ]
    ])
  })

  inTask("finds files called constructor and toString", function* () {
    yield* registered
    yield* version({ "same.json": [bell] })
    yield* version({ "same.json": [bell], constructor: "1", toString: "2" })
    expect(yield* diff()).toMatchObject({ files: { added: 2, changed: 0, removed: 0 } })
  })

  inTask("compares the records of a table of more than 16 MiB, as Vitrine saves it", function* () {
    yield* registered
    const rows = Array.from({ length: 10_000 }, (_, index) => ({
      id: `rec${index}`,
      text: "“é” ".repeat(200)
    }))
    yield* version({ "Objects.json": rows })
    const [first, ...others] = rows
    yield* version({
      "Objects.json": [
        { id: "new" },
        ...others.map((row, index) => (index === 9000 ? { ...row, text: "ü" } : row))
      ]
    })
    expect((yield* diff()).documents).toMatchObject([
      {
        added: 1,
        changed: 1,
        removed: 1,
        records: [
          { id: "rec9001", change: "changed", fields: [{ field: "text", to: '"ü"' }] },
          { id: "new", change: "added" },
          { id: first?.id, change: "removed" }
        ]
      }
    ])
  })

  inTask("compares files that are not tables, and reads no others", function* ({ fs }) {
    yield* registered
    const { directory } = yield* VersionStore
    const attachment = (text: string) => ({ "attachments/att1/a.json": `{"text":"${text}"}` })
    const from = yield* version({ "x.json": [1], "same.json": [bell], ...attachment("1") })
    const to = yield* version({ "x.json": { a: 1 }, "same.json": [bell], ...attachment("2") })
    yield* fs.remove(`${directory}/versions/${from}/objects/same.json`)
    yield* fs.remove(`${directory}/versions/${to}/objects/attachments`, { recursive: true })
    expect(yield* diff()).toMatchObject({
      documents: [],
      files: {
        changed: 2,
        list: [
          { path: "attachments/att1/a.json", change: "changed" },
          { path: "x.json", change: "changed" }
        ]
      }
    })
  })
})
