/**
 * The sentences about mistakes of content, each in each language.
 */
import { describe, expect, it } from "@effect/vitest"
import { type LanguageCode, languages } from "../../src/internal/languages.ts"
import {
  type Fields,
  type Mistake,
  mistake,
  mistakeText,
  type ViolationFields,
  violationMistake
} from "../../src/internal/mistake.ts"

const at = [{ row: 6, id: "INV-005" }]
const place = { name: "Objects.csv", rows: at, field: "year" }
const wrong = { expected: { type: "number", isOptional: false }, cell: { is: "text", text: '"x"' } } as const

/** Fields for the sentence of each code. */
const fields: Fields = {
  "text:archive": [],
  "text:encoding": [],
  "text:page": [],
  "text:pointer": [],
  "text:lost": [{ found: "?" }],
  "text:mark": [],
  "text:doubled": [{ found: "Ã¶" }],
  "text:long": [{ size: 3e7, most: 2e7 }],
  "json:syntax": [{ message: "Unexpected token" }],
  "json:twice": [{ name: "title" }],
  "json:digits": [{ count: 2, first: "12345678901234567890" }],
  "json:errors": [{ count: 2, path: "objects.1.text" }],
  "budget:limit": [{ limit: "records", most: 1_000_000 }],
  "csv:json": [],
  "csv:cells": [{ cells: 3, columns: 2, separator: ";", title: 1 }],
  "csv:open": [],
  "csv:quote": [],
  "csv:other": [{ message: "odd" }],
  "csv:header": [],
  "csv:nameless": [{ number: 2 }],
  "csv:twice": [{ name: "title" }],
  "csv:title": [{ separator: "\t" }],
  "csv:alone": [],
  "csv:shortened": [{ name: "code", cell: "4.01E+12", count: 2, first: { rows: at } }],
  "csv:program": [{ name: "note", cell: "NULL", count: 2, first: { rows: at } }],
  "csv:repeated": [],
  "file:shortcut": [],
  "cell:error": [{ name: "year", cell: "#REF!", count: 2, first: { rows: at }, isSaved: false }],
  "keys:column": [{ missing: "value", columns: ["key", "wert"] }],
  "keys:index": [{ key: "a[10000]", at: { row: 2 }, last: "a[9999]" }],
  "keys:both": [{ key: "a", at }],
  "keys:missing": [{ at, count: 2 }],
  "keys:twice": [{ key: "a", at }],
  "keys:unread": [{ name: "Settings" }],
  "records:unnamed": [{ count: 2, key: "id", at }],
  "records:twice": [{ count: 2, key: "id", id: "INV-005", at }],
  "names:hidden": [{ what: "column", name: "title " }],
  "names:alike": [{ what: "document", names: ["a", "A"] }],
  "expect:left-out": [{ cells: [{ ...wrong, field: "year" }] }],
  "more:mistakes": [{ count: 2 }],
  "more:warnings": [{ count: 3 }],
  "more:left-out": [{ count: 2 }],
  "records:unpublished": [{ count: 2 }],
  "list:more": [{ count: 2, total: 40 }],
  "tables:id": [{ name: "id (column)" }],
  "sanity:reference": [{ count: 2, first: "a" }],
  "directus:language": [{ count: 2, name: "translations", first: "12" }],
  "gone:document": [],
  "gone:empty": [],
  "gone:records": [{ count: 2, before: 40 }],
  "gone:field": [{ name: "title", other: "titel" }],
  "gone:kind": [{ name: "tags", kind: "list" }],
  "gone:names": [{ names: ["title", "text"] }],
  "gone:files": [{ count: 2, before: 40 }],
  "gone:language": [{ language: "fr" }],
  "rights:status": [{ collection: "events" }],
  "rights:translations": [{ collection: "events" }],
  "links:document": [{ known: ["makers"] }],
  "links:list": [],
  "links:unused": [{ name: "maker" }],
  "links:lost": [{ name: "maker", target: "makers", count: 2, ids: ["m9"], hasMore: true }],
  "step:failed": [{ number: 1, name: "sort", reason: "odd", got: "an object" }],
  "step:value": [{ number: 1, name: "sort", found: "a promise" }],
  "media:left-out": [{ count: 2 }],
  "media:entity": [{ count: 2 }],
  "media:nothing": [{ find: "**.url" }],
  "file:elsewhere": [{ field: "photo", count: 2, first: ["C:\\a.jpg"] }],
  "file:signed": [{ field: "photo", count: 2, first: ["https://museum.example/a.jpg"] }],
  "file:missing": [{ file: "a.jpg", similar: "b.jpg" }],
  "file:more": [{ count: 2 }],
  "file:flaw": [{ wrong: "cut", detail: "its end is missing" }],
  "file:problem": [{ wrong: "file", file: "a.jpg", detail: "HTTP 404" }],
  "file:problems": [{ wrong: "picture", detail: "it is HEIC", count: 4, at: [{ place, file: "a.heic" }] }],
  "file:empty": [],
  "file:spreadsheet": [],
  "file:ending": [],
  "file:system": [{ did: "read", reason: "no permission" }],
  "file:special": [{ kind: "pipe" }],
  "name:encoding": [],
  "name:windows": [],
  "name:same": [{ other: "a.json", document: "a" }],
  "link:folder": [],
  "link:broken": [],
  "link:outside": [],
  "folder:cloud": [{ placeholder: ".a.csv.icloud" }],
  "folder:document": [{ name: "Objects", isTable: false, others: ["A.csv"], spreadsheet: "Objects.xlsx" }]
}

const ofViolations: ViolationFields = {
  "expect:cell": [wrong],
  "expect:few": [{ least: 1, count: 0, what: "record", view: null }],
  "expect:vanished": [{ least: 20, before: 40, count: 2, what: "record", view: "web" }],
  "expect:renamed": [{ name: "title", other: "titel", what: "key" }],
  "expect:mistakes": [{ most: 1, total: 10, count: 2 }]
}

/** Every mistake. The loops of codes lose which fields belong to which code. */
const mistakes: ReadonlyArray<Mistake> = [
  ...(Object.keys(fields) as ReadonlyArray<keyof Fields>).map((code) =>
    mistake(code, place, ...(fields[code] as Fields[typeof code]))
  ),
  ...(Object.keys(ofViolations) as ReadonlyArray<keyof ViolationFields>).map((code) =>
    violationMistake(code, place, ofViolations[code] as ViolationFields[typeof code])
  )
]

describe.each(Object.keys(languages) as ReadonlyArray<LanguageCode>)("the language %s", (code) => {
  it.each(mistakes)("names file, row and id, and says what is wrong: $code", (mistake) => {
    const text = mistakeText(mistake, languages[code])
    expect(text).toMatch(/^Objects\.csv, \S+ 6 \(INV-005\), .year.: .{10,}/)
    expect(text).not.toMatch(/undefined|\[object|NaN| {2}/)
    if (code !== "en") expect(text).not.toBe(mistakeText(mistake))
  })

  it("has a sentence for every code", () => {
    expect(Object.keys(languages[code].sentences).toSorted()).toEqual(Object.keys(fields).toSorted())
  })
})
