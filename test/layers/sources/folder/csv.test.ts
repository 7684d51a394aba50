import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { type FolderSourceConfig, folderSource } from "../../../../src/layers/sources/folder/folderSource.ts"
import { openWithTestClock } from "../../../support/openSource.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)

/** Fetches a folder with these files, and returns the saved documents. */
const fetchFiles = (
  files: Readonly<Record<string, string | Uint8Array>>,
  config: Partial<FolderSourceConfig> = {},
  names = Object.keys(files).map((file) => file.replace(/\.\w+$/, ""))
) =>
  Effect.gen(function* () {
    const { directory } = yield* temporaryFolder(files)
    const { fetch } = yield* openWithTestClock(folderSource({ id: "exhibits", directory, ...config }))
    const { read, warnings } = yield* fetch()
    return { warnings: textsOf(warnings) ?? [], documents: yield* Effect.forEach(names, read) }
  }).pipe(Effect.scoped, Effect.provide(environment))

/** The records of a table. */
const fetchTable = (content: string | Uint8Array = "", config?: Partial<FolderSourceConfig>) =>
  Effect.map(fetchFiles({ "T.csv": content }, config), ({ documents: [table] }) => table)

const failureOf = (content: string | Uint8Array = "") =>
  Effect.map(Effect.flip(fetchTable(content)), ({ message }) => message)

/** As spreadsheet programs and exports write: quotes around all cells, or only around cells that need them. */
const names = FastCheck.string({ minLength: 1, unit: "grapheme" }).filter((name) => name.trim() !== "")
const tables = FastCheck.uniqueArray(names, { minLength: 2, maxLength: 6, selector: (name) => name })
  .filter(([first = ""]) => !/^sep=/i.test(first))
  .chain((columns) =>
    FastCheck.record({
      columns: FastCheck.constant(columns),
      rows: FastCheck.array(
        FastCheck.array(FastCheck.string({ unit: "grapheme" }), {
          minLength: columns.length,
          maxLength: columns.length
        }),
        { maxLength: 6 }
      ),
      delimiter: FastCheck.constantFrom(",", ";", "\t", "|"),
      lineEnd: FastCheck.constantFrom("\n", "\r\n", "\r"),
      isQuoted: FastCheck.boolean(),
      isDeclared: FastCheck.boolean(),
      hasLastEnd: FastCheck.boolean(),
      emptyCells: FastCheck.nat(3),
      before: FastCheck.constantFrom(...["blank", "delimiters", "nothing"]),
      encoding: FastCheck.constantFrom("utf-8", "utf-8 with a mark", "utf-16le", "utf-16be")
    })
  )

type Table = typeof tables extends FastCheck.Arbitrary<infer A> ? A : never

const write = ({
  before,
  columns,
  delimiter,
  emptyCells,
  encoding,
  hasLastEnd,
  isDeclared,
  isQuoted,
  lineEnd,
  rows
}: Table) => {
  const cell = (text: string) =>
    isQuoted || /["\r\n,;|\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const line = (cells: ReadonlyArray<string>) =>
    [...cells.map(cell), ...Array.from({ length: emptyCells }, () => "")].join(delimiter)
  const blank = { blank: [""], delimiters: [delimiter.repeat(columns.length)], nothing: [] }[before] ?? []
  const lines = [
    ...(isDeclared ? [`sep=${delimiter}`] : []),
    ...blank,
    line(columns),
    ...rows.map(line),
    ...blank
  ]
  return encode(`${lines.join(lineEnd)}${hasLastEnd ? lineEnd : ""}`, encoding)
}

const encode = (text: string, encoding: string): Uint8Array => {
  if (encoding.startsWith("utf-8")) return Buffer.from(encoding === "utf-8" ? text : `\ufeff${text}`)
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le")
  return encoding === "utf-16le" ? bytes : bytes.swap16()
}

const recordsOf = ({ columns, rows }: Table) =>
  rows
    .map((row) =>
      Object.fromEntries(columns.flatMap((name, index) => (row[index] ? [[name, row[index]]] : [])))
    )
    .filter((record) => Object.values(record).some((cell) => cell.trim() !== ""))

describe("a CSV file in a folder", () => {
  it.effect.prop(
    "is read as it was written by any program",
    { tables: FastCheck.array(tables, { minLength: 20, maxLength: 20 }) },
    ({ tables }) =>
      Effect.gen(function* () {
        const { documents } = yield* fetchFiles(
          Object.fromEntries(tables.map((table, index) => [`T${index}.csv`, write(table)]))
        )
        expect(documents).toEqual(tables.map(recordsOf))
      }),
    { fastCheck: { numRuns: 10 }, timeout: 60_000 }
  )

  it.effect.each([
    ['Nr;"Title, short"\n1;Bell\n'],
    ["Nr;Title (long, or short)\n1;Bell\n"],
    ["Nr\tTitle\n1\tBell\n"],
    ["Nr|Title\n1|Bell\n"],
    ["\n \n;\nNr;Title\n1;Bell\n"],
    ['"Nr\n(old, new, any)";Title\n1;Bell\n'],
    ["sep=;\r\nNr;Title\r\n1;Bell\r\n"],
    ["sep=|\nNr|a,b,c\n1|Bell\n"],
    ["Nr,Title,,\n1,Bell,,\n,,,\n"],
    ["Nr,Title\n1,Bell,\n"],
    ["Nr,Title\n1,Bell, \n"],
    ["Nr;Title\n ; \n\u00a0;\n1;Bell\n"]
  ])("has its delimiter detected: %j", ([text]) =>
    Effect.gen(function* () {
      const [record = {}] = (yield* fetchTable(text)) as ReadonlyArray<object>
      expect(Object.values(record)).toEqual(["1", "Bell"])
    })
  )

  it.effect('uses the option "delimiter" if column names contain another delimiter', () =>
    Effect.gen(function* () {
      const text = "Price, net, EUR;Price, gross, EUR\n1,50;2,50\n"
      expect(yield* failureOf(text)).toMatch(
        /T\.csv, row 2: the row does not have as many cells as the header line/
      )
      expect(yield* fetchTable(text, { delimiter: ";" })).toEqual([
        { "Price, net, EUR": "1,50", "Price, gross, EUR": "2,50" }
      ])
      expect(folderSource({ id: "a", directory: "b", delimiter: ":" } as never).issues).toMatchObject([
        { path: "delimiter" }
      ])
    })
  )

  it.effect.each<readonly [string | Uint8Array, RegExp]>([
    ['a;b\n1;2\n3;"x\n4;5\n6;7\n', /T\.csv, row 3: a cell begins with a double quote that is never closed/],
    ['a;b\n"1\n";"x\n4;"y"\n6;7\n', /T\.csv, row 2: a double quote inside a cell must be written twice/],
    ['\na;b\n1;5" wide\n', /T\.csv, row 3: a double quote inside a cell/],
    ["sep=;\n\na;b\n\n1;2;3\n", /T\.csv, row 4: the row does not have as many cells/],
    ["a;b;a\n", /T\.csv, row 1: two columns are named "a"/],
    ["a;;c\n1;2;3\n", /T\.csv, row 1: column 2 has no name/],
    ["a; ;c\n1;2;3\n", /T\.csv, row 1: column 2 has no name/],
    [
      "Exhibits 2026,,,\n,,,\na,b,c,d\n",
      /T\.csv, row 3: the row does not have .*: 4, and not 1\. If row 1 is a title/
    ],
    [
      "Exhibits, 2026\na;b;c\n",
      /T\.csv, row 2: the row does not have .*: 1, and not 2\. If row 1 is a title/
    ],
    ["<!-- saved -->\n<!DOCTYPE html>\n<p>Log in</p>\n", /T\.csv: it looks like a web page \(HTML\)/],
    ['[\n  {"id": 1, "title": "Bell"}\n]\n', /T\.csv: it looks like JSON, and not like CSV/],
    ['{"title": "Bell"}', /T\.csv: it looks like JSON/],
    ["PK\x03\x04\x14\0", /T\.csv: is a spreadsheet or an archive under another name/],
    [Buffer.from("d0cf11e0a1b11ae1", "hex"), /T\.csv: is a spreadsheet or an archive under another name/],
    [
      Buffer.from("Name\nM\xfcller\n", "latin1"),
      /T\.csv: is not UTF-8 text\. .*in Excel with the file type "CSV UTF-8"/
    ],
    [Buffer.from("Name\nMüller\n", "utf16le"), /T\.csv: is not UTF-8 text/],
    ["a;".repeat(300_000), /T\.csv, row 1: it has more than 10,000 columns/],
    [`a;b\n${"x".repeat(17_000_000)}`, /T\.csv: it has more than 16,777,216 bytes in one row/]
  ])("has its first mistake reported with its place", ([content, message]) =>
    Effect.map(failureOf(content), (failure) => expect(failure).toMatch(message))
  )

  it.effect.each<readonly [string, RegExp]>([
    [
      "Exhibits 2026\nid;title\n1;Bell\n",
      /T\.csv, row 1: the header line has one cell, and a semicolon is in/
    ],
    ["Exhibits\nid\ttitle\n1\tBell\n2\t\n", /T\.csv, row 1: .*a tab is in each of the rows\. If .* a title/],
    ["id,title\n1,Bell\nid,title\n2,Fog\n", /T\.csv, row 3: the row repeats the header line/],
    [
      "id, title\n1,Bell\n",
      /T\.csv: the name of the field " title" has an invisible character or a needless space/
    ],
    [
      "\u200bid,title\n1,Bell\n",
      /the name of the field "\\u200bid" has an invisible character or a needless space/
    ],
    ["id,ti\u00adtle\n1,Bell\n", /the name of the field "ti\\u00adtle" has an invisible character or a/],
    ["id,the\u00a0title\n1,Bell\n", /the name of the field "the\\u00a0title" has an invisible character/],
    ["id,a  title\n1,Bell\n", /the name of the field "a {2}title" has an invisible character/],
    ["id,Title,title\n1,Bell,Fog\n", /T\.csv: the fields "Title" and "title" have almost the same/],
    ["id,title\n1,GrÃ¶ÃŸe\n", /T\.csv, row 2( \(1\))?: has "Ã¶", which is one letter that was read in/],
    ["id,title\n1,itâ€™s\n", /T\.csv, row 2( \(1\))?: has "â€™", which is/],
    ["id\n1\n\ufeffid\n2\n", /T\.csv, row 3( \(1\))?: has an invisible byte order mark/],
    [
      "id,title\n1,M\ufffdller\n",
      /T\.csv, row 2( \(1\))?: has "\ufffd" in the place of a letter that was lost/
    ]
  ])("is read with a warning if it probably has a mistake: %j", ([text, warning]) =>
    Effect.gen(function* () {
      const { warnings } = yield* fetchFiles({ "T.csv": text })
      expect(warnings[0]).toMatch(warning)
      expect(warnings).toHaveLength(1)
    })
  )

  it.effect("may have letters of any language, beside marks of any kind", () =>
    Effect.gen(function* () {
      const text = "id,title\n1,“MAÇÔ “Â” MANHÃ… IRMÃ – 5 €\n"
      expect((yield* fetchFiles({ "T.csv": `${text}2,a\ufeffb\n` })).warnings).toEqual([])
      const flags = "id,🏴󠁧󠁢󠁷󠁬󠁳󠁿,🏴󠁧󠁢󠁳󠁣󠁴󠁿\n1,Cloch,Bell\n"
      expect((yield* fetchFiles({ "T.csv": flags })).warnings).toEqual([])
    })
  )

  it.effect("may have one column of texts that contain delimiters", () =>
    Effect.gen(function* () {
      const files = {
        "A.csv": "Notes\nfirst; second\nthird\n",
        "B.csv": "sep=,\nNotes\na;b\n",
        "C.csv": "id\nid\n"
      }
      expect((yield* fetchFiles(files)).warnings).toEqual([])
    })
  )

  it.effect("is asked for if the folder has a spreadsheet instead", () =>
    Effect.gen(function* () {
      const files = { "Objects.xlsx": "PK", "Rooms.ods": "PK", "Rooms.csv": "id\n1\n", "Rooms.json.txt": "" }
      const advice =
        'Objects.xlsx: this spreadsheet is saved as a file, and is no table. Export it as CSV, in Excel with the file type "CSV UTF-8".'
      expect((yield* fetchFiles(files, {}, ["Rooms"])).warnings).toEqual([advice])
      expect(
        (yield* fetchFiles({ "Rooms.csv": "id\n", "A.csv.txt": "", "B.tsv": "" }, {}, ["Rooms"])).warnings
      ).toEqual(
        ["A.csv.txt", "B.tsv"].map((name) =>
          expect.stringMatching(`^${name}: this is saved as a file, and is no document`)
        )
      )
      for (const option of ["keys", "expect"]) {
        const config = { [option]: { Objects: option === "keys" ? "nr" : {} } }
        const { message } = yield* Effect.flip(fetchFiles(files, config, ["Rooms"]))
        expect(message).toContain(
          "Objects.csv or Objects.json, and this file is missing. There are: Rooms.csv. Objects.xlsx is a spreadsheet: export it as CSV"
        )
      }
    })
  )

  it.effect("has missing and repeated ids reported if any record has an id", () =>
    Effect.gen(function* () {
      const { warnings } = yield* fetchFiles(
        { "A.csv": "id;x\n1;a\n2;b\n1;c\n;d\n", "B.csv": "x;y\n1;1\n1;1\n", "C.json": '[{"nr":1},{"nr":1}]' },
        { keys: { C: "nr" } }
      )
      expect(warnings).toEqual([
        "A.csv: 1 record without id (row 5), which is needed to compare versions. Write it.",
        "A.csv: 1 record with the id of another record: 1 (rows 2, 4). Write another id.",
        "C.json: 1 record with the nr of another record: 1. Write another nr."
      ])
    })
  )
})

describe("a JSON file in a folder", () => {
  it.effect("keeps all digits of large numbers as text, with one warning for each document", () =>
    Effect.gen(function* () {
      const files = {
        "A.json":
          '[{"id":12345678901234567890,"n":12.50},{"id":9007199254740993,"n":1e400},{"id":-0,"n":0.1}]',
        "B.json": '{"id": 9007199254740991}'
      }
      const { documents, warnings } = yield* fetchFiles(files)
      expect(documents).toEqual([
        [
          { id: "12345678901234567890", n: 12.5 },
          { id: "9007199254740993", n: "1e400" },
          { id: 0, n: 0.1 }
        ],
        { id: 9007199254740991 }
      ])
      expect(warnings).toEqual([
        "A.json: 3 numbers saved as text, to lose no digit: 12345678901234567890 first"
      ])
      const refused = yield* Effect.flip(fetchFiles(files, { expect: { A: { fields: { id: "number" } } } }))
      expect(refused.message).toMatch(
        /expected a number, found "12345678901234567890", which is text because a number would lose digits/
      )
    })
  )

  it.effect("is an error if it contains a web page, and read without a byte order mark", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(fetchFiles({ "A.json": "\n<html><body>Log in</body></html>" }))
      expect(message).toMatch(/A\.json: it looks like a web page \(HTML\)/)
      expect((yield* fetchFiles({ "A.json": "\ufeff\ufeff[1]" })).documents).toEqual([[1]])
    })
  )

  it.effect("is an error if it has more values than are held in memory", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(fetchFiles({ "A.json": `[${"0,".repeat(10_000_001)}0]` }))
      expect(failure.message).toMatch(/A\.json: it has more than 10,000,000 values/)
    })
  )
})
