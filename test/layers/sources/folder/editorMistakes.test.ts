/**
 * An editor of forty objects makes mistakes, and reads in the folder what to do, in each language.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { LanguageCode } from "../../../../src/internal/languages.ts"
import { reportFailure } from "../../../../src/layers/fetching/fetchSource.ts"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { type FolderSourceConfig, folderSource } from "../../../../src/layers/sources/folder/folderSource.ts"
import { BaseFolder, type PreviousContent } from "../../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)

type Files = Record<string, string | Uint8Array>

const columns = "id,title,title_de,year,picture,text_de"
const rowOf = (index: number) =>
  `INV-${String(index).padStart(3, "0")},Bell ${index},Glocke ${index},${1800 + index},pictures/${index}.svg,"Ein Absatz.\n\nNoch einer über die Glocke ${index}."`
const objects = [columns, ...Array.from({ length: 40 }, (_, index) => rowOf(index + 1))]
const files: Files = {
  "Objects.csv": `${objects.join("\n")}\n`,
  "Settings.csv": "key,value\ntitle,The museum\nidle,90\n",
  ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`pictures/${index + 1}.svg`, "<svg/>"]))
}

const config: Omit<FolderSourceConfig, "id" | "directory"> = {
  keyValueTables: ["Settings"],
  expect: {
    Objects: {
      fields: { title: "text", title_de: "text?", year: "number", picture: "file?", text_de: "text?" },
      minRecords: 1,
      maxVanishing: 0.5
    }
  }
}

/** The table with a part of it replaced. */
const edit = (from: string | RegExp, to: string, file = "Objects.csv") => ({
  [file]: String(files[file]).replaceAll(from, to)
})

/** What the file in the folder says after an edit of a good folder, without its first and last lines. */
const problemsAfter = Effect.fnUntraced(function* (
  edited: Files,
  language: LanguageCode,
  more: Partial<FolderSourceConfig>,
  isFirst = false
) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "vitrine-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const write = (all: Files) =>
    Effect.forEach(Object.entries(all), ([path, content]) =>
      Effect.promise(async () => {
        await mkdir(dirname(join(folder, "content", path)), { recursive: true })
        await writeFile(join(folder, "content", path), content)
      })
    )
  yield* write(files)
  const problems = { file: true, language } as const
  const source = yield* folderSource({
    id: "exhibits",
    directory: "content",
    problems,
    ...config,
    ...more
  }).make.pipe(Effect.provideService(BaseFolder, folder))
  const fetch = Effect.fnUntraced(function* (name: string, previous: Option.Option<PreviousContent>) {
    const directory = join(folder, name)
    yield* Effect.promise(() => mkdir(directory))
    const fetching = source.fetch({ directory, previous, progress: () => Effect.void })
    const { value: outcome } = yield* withAdvancingClock(Effect.either(fetching))
    if (Either.isLeft(outcome)) yield* reportFailure(source, outcome.left)
    else {
      const given = (outcome.right.warnings ?? []).flatMap((warning) =>
        Predicate.isString(warning) ? [] : warning
      )
      yield* source.report?.(given.map(({ mistake, text }) => ({ isRejected: false, text, mistake }))) ??
        Effect.void
    }
    return Either.map(outcome, ({ digests = {}, fingerprint }) => ({
      directory,
      fingerprint: Option.some(fingerprint),
      files: Object.fromEntries(
        Object.entries(digests).map(([path, sha256]) => [path, { size: 1000, sha256 }])
      )
    }))
  })
  const previous = isFirst ? Option.none() : Either.getRight(yield* fetch("before", Option.none()))
  yield* write(edited)
  yield* fetch("after", previous)
  const file = join(folder, "content/VITRINE-PROBLEMS.txt")
  return (yield* Effect.promise(() => readFile(file, "utf8").catch(() => ""))).replaceAll("\r\n", "\n")
})

const listed = (text: string) => text.split("\n").flatMap((line) => /^\d+\. (.*)$/.exec(line)?.[1] ?? [])

const leavesOut = { expect: { Objects: { ...config.expect?.Objects, leaveOut: 0.1 } } }

const row6 = rowOf(5)

type Case = readonly [
  name: string,
  edited: Files,
  english: ReadonlyArray<string>,
  german: ReadonlyArray<string>,
  more?: Partial<FolderSourceConfig>
]

const cases: ReadonlyArray<Case> = [
  [
    "a number with a comma",
    edit(",1805,", ',"12,5",'),
    ['Objects.csv, row 6 (INV-005), "year": expected a number, found "12,5". Write 12.5.'],
    ["Objects.csv, Zeile 6 (INV-005), „year“: Erwartet: eine Zahl. Gefunden: „12,5“. Schreiben Sie 12.5."]
  ],
  [
    "a column with another name",
    edit(columns, columns.replace("text_de", "text_deutsch")),
    [
      'Objects.csv, "text_de": expected the field in at least one record, as in the last version, found it nowhere. "text_de" is missing; "text_deutsch" is new: was it renamed?'
    ],
    [
      "Objects.csv, „text_de“: Erwartet: dieses Feld wie bisher, in mindestens einem Eintrag. Gefunden: in keinem. „text_de“ fehlt, und „text_deutsch“ ist neu. Wurde es umbenannt? Benennen Sie es wieder wie vorher."
    ]
  ],
  [
    "a column that is gone",
    edit(columns, columns.replace("title,", "x,")),
    ['Objects.csv, "title": expected text, found nothing. "title" is missing; "x" is new: was it renamed?'],
    [
      "Objects.csv, „title“: Erwartet: ein Text. Gefunden: nichts. „title“ fehlt, und „x“ ist neu. Wurde es umbenannt? Benennen Sie es wieder wie vorher."
    ]
  ],
  [
    "half a file",
    { "Objects.csv": `${objects.slice(0, 15).join("\n")}\n` },
    [
      "Objects.csv: expected at least 20 of the 40 records in the last version, found 14 records. Is a part missing? If not, remove fewer at once."
    ],
    [
      "Objects.csv: Erwartet: mindestens 20 der bisher 40 Einträge. Gefunden: 14 Einträge. Fehlt ein Teil? Wenn nicht, entfernen Sie weniger auf einmal."
    ]
  ],
  [
    "an id twice",
    edit("INV-007", "INV-005"),
    ["Objects.csv: 1 record with the id of another record: INV-005 (rows 6, 8). Write another id."],
    [
      "Objects.csv: 1 Eintrag hat dasselbe unter „id“ wie ein anderer Eintrag: INV-005 (Zeilen 6, 8). Geben Sie jedem etwas Eigenes."
    ]
  ],
  [
    "a row with a separator too many",
    edit(row6, row6.replace("Bell 5", "Bell, 5")),
    [
      'Objects.csv, row 6 (INV-005): the row does not have as many cells as the header line: 7, and not 6. Cells with a line break or a comma, the separator of cells here, need double quotes around them. If the separator is another character, add a first line such as "sep=;".'
    ],
    [
      'Objects.csv, Zeile 6 (INV-005): Die Zeile hat 7 Zellen, die Kopfzeile aber 6. Zellen mit einem Zeilenumbruch oder mit einem Komma, dem Trennzeichen dieser Datei, brauchen Anführungszeichen (") um sich. Falls ein anderes Zeichen die Zellen trennt, fügen Sie als erste Zeile zum Beispiel sep=; ein.'
    ]
  ],
  ["semicolons, which are right too", edit(",", ";"), [], []],
  [
    "Windows-1252",
    { "Objects.csv": Buffer.from(String(files["Objects.csv"]), "latin1") },
    ['Objects.csv: is not UTF-8 text. Save it with that encoding, in Excel with the file type "CSV UTF-8".'],
    [
      "Objects.csv: Die Datei ist kein Text in UTF-8. Speichern Sie sie mit dieser Kodierung, in Excel mit dem Dateityp „CSV UTF-8“."
    ]
  ],
  [
    "the picture of another name",
    edit("pictures/5.svg", "pictures/5.jpg"),
    [
      'Objects.csv, row 6 (INV-005), "picture": expected a file in the folder or nothing, found "pictures/5.jpg". Is it "pictures/5.svg"?'
    ],
    [
      "Objects.csv, Zeile 6 (INV-005), „picture“: Erwartet: eine Datei in diesem Ordner oder nichts. Gefunden: „pictures/5.jpg“. Meinen Sie „pictures/5.svg“?"
    ]
  ],
  [
    "a missing picture of an object that may be left out",
    edit("pictures/5.svg", "elsewhere/of the bell.jpg"),
    [
      'Objects.csv, row 6 (INV-005): is left out: "picture": expected a file in the folder or nothing, found "elsewhere/of the bell.jpg".'
    ],
    [
      "Objects.csv, Zeile 6 (INV-005): wird weggelassen. „picture“: Erwartet: eine Datei in diesem Ordner oder nichts. Gefunden: „elsewhere/of the bell.jpg“."
    ],
    leavesOut
  ],
  [
    "a missing picture of an object without rules",
    edit("pictures/5.svg", "elsewhere/of the bell.jpg"),
    ['Objects.csv, row 6 (INV-005), "picture": there is no file "elsewhere/of the bell.jpg" in the folder.'],
    ["Objects.csv, Zeile 6 (INV-005), „picture“: Die Datei „elsewhere/of the bell.jpg“ ist nicht im Ordner."],
    { expect: {} }
  ],
  [
    "a cut picture",
    {
      ...edit("pictures/5.svg", "pictures/5.jpg"),
      "pictures/5.jpg": Buffer.from(`ffd8ffe000104a464946${"00".repeat(60)}`, "hex")
    },
    [
      "pictures/5.jpg: it is cut or damaged: its end is missing, perhaps because copying was interrupted. Copy it again."
    ],
    [
      "pictures/5.jpg: Das Ende der Datei fehlt; vielleicht wurde das Kopieren unterbrochen. Kopieren Sie die Datei noch einmal in den Ordner."
    ]
  ],
  [
    "a text with the name of a picture",
    { ...edit("pictures/5.svg", "pictures/5.jpg"), "pictures/5.jpg": "The picture is with Anna, ask her." },
    [
      "pictures/5.jpg: it is text, not image/jpeg: perhaps a login or error page. Replace it with the right file."
    ],
    [
      "pictures/5.jpg: Die Datei ist leer, oder sie enthält etwas anderes, als ihr Name sagt. Ersetzen Sie sie durch die richtige Datei."
    ]
  ],
  [
    "an error of a formula where a number must be",
    edit(",1805,", ",#REF!,"),
    [
      'Objects.csv, row 6 (INV-005), "year": expected a number, found "#REF!", which is an error of a spreadsheet.'
    ],
    [
      "Objects.csv, Zeile 6 (INV-005), „year“: Erwartet: eine Zahl. Gefunden: „#REF!“, ein Fehler der Tabellenkalkulation. Korrigieren Sie die Formel."
    ]
  ],
  [
    "an error of a formula of an object that may be left out",
    edit(",1805,", ",#REF!,"),
    [
      'Objects.csv, row 6 (INV-005): is left out: "year": expected a number, found "#REF!", which is an error of a spreadsheet.'
    ],
    [
      "Objects.csv, Zeile 6 (INV-005): wird weggelassen. „year“: Erwartet: eine Zahl. Gefunden: „#REF!“, ein Fehler der Tabellenkalkulation. Korrigieren Sie die Formel."
    ],
    leavesOut
  ],
  [
    "an error of a formula in a cell that may be empty",
    edit(",Glocke 5,", ",#BEZUG!,"),
    [
      'Objects.csv: "title_de" is an error of a spreadsheet in row 6 (INV-005): "#BEZUG!". It is saved as empty. Correct the formula.'
    ],
    [
      "Objects.csv: „title_de“ hat in Zeile 6 (INV-005) einen Fehler der Tabellenkalkulation: „#BEZUG!“. Die Zelle wird als leer gespeichert. Korrigieren Sie die Formel."
    ]
  ],
  [
    "a quote",
    edit(",Bell 5,", ',"Bell 5,'),
    [
      "Objects.csv, row 6: a double quote inside a cell must be written twice, and the cell needs double quotes around it."
    ],
    [
      'Objects.csv, Zeile 6: Ein Anführungszeichen (") in einer Zelle muss doppelt stehen (""), und die Zelle braucht Anführungszeichen um sich.'
    ]
  ],
  [
    "a key twice",
    edit("idle,90", "title,Another", "Settings.csv"),
    [
      'Settings.csv: the key "title" is in more than one row (rows 2, 3), and the last one counts. Remove the others.'
    ],
    [
      "Settings.csv: Der Schlüssel „title“ steht in mehr als einer Zeile (Zeilen 2, 3), und die letzte zählt. Entfernen Sie die anderen."
    ]
  ],
  [
    "settings that nobody reads as such",
    {},
    [
      'Settings.csv: it has the columns "key" and "value", and is saved as a list of rows. To save one object with these keys, add "Settings" to "keyValueTables" in the configuration.'
    ],
    [
      "Settings.csv: Die Tabelle hat die Spalten „key“ und „value“, wird aber als Liste von Zeilen gespeichert. Soll sie Einstellungen enthalten, muss in der Konfiguration unter „keyValueTables“ „Settings“ stehen."
    ],
    { keyValueTables: [] }
  ]
]

const ofTheProgram = /leaveOut|maxVanishing|minRecords|Document|consumerId|images|Predicate|refinement|sharp/

describe("the file for an editor", () => {
  it.scoped.each(cases)(
    "names once, with its place and what to do: %s",
    ([, edited, english, german, more = {}]) =>
      Effect.gen(function* () {
        const texts = [yield* problemsAfter(edited, "en", more), yield* problemsAfter(edited, "de", more)]
        expect(texts.map(listed)).toEqual([english, german])
        for (const text of texts) expect(text).not.toMatch(ofTheProgram)
      }).pipe(Effect.provide(environment))
  )

  it.scoped("says what the screens show", () =>
    Effect.gen(function* () {
      const bad = edit(",1805,", ',"12,5",')
      const doubled = edit("INV-007", "INV-005")
      const saysOf = (edited: Files, language: LanguageCode, isFirst = false) =>
        Effect.map(problemsAfter(edited, language, {}, isFirst), (text) => text.split("\n")[2])
      expect(yield* saysOf(bad, "en")).toBe(
        "The changes in this folder are NOT shown. The screens keep what they showed before."
      )
      expect(yield* saysOf(bad, "en", true)).toBe(
        "The content of this folder is NOT shown yet, because of these mistakes:"
      )
      expect(yield* saysOf(doubled, "en")).toBe(
        "The content of this folder is shown, except for these mistakes:"
      )
      expect(yield* saysOf(bad, "de")).toBe(
        "Die Änderungen in diesem Ordner werden NICHT gezeigt. Die Bildschirme zeigen, was sie vorher gezeigt haben."
      )
    }).pipe(Effect.provide(environment))
  )

  it("has the languages named if the option names another", () => {
    const { issues } = folderSource({
      id: "a",
      directory: "b",
      problems: { file: true, language: "tlh" }
    } as never)
    expect(issues.map(({ message, path }) => `${path}: ${message}`)).toEqual([
      expect.stringMatching(/^problems: expected "file" or .* languages "en", "de", got/)
    ])
  })
})
