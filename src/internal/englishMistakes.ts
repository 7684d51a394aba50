/**
 * The sentences about mistakes of content, in English. Each other language is a module of the same shape.
 */
import {
  type Limit,
  type MistakePlace,
  type Named,
  type RowPlace,
  type Separator,
  textsIn,
  type ValueKind,
  type ViolationWords,
  type Words,
  type Wrong,
  type WrongCell
} from "./mistakeParts.ts"
import { excerpt, quotedName } from "./printable.ts"
import { countText, sizeText } from "./readable.ts"

const quoted = (name: string) => quotedName(name, 300)

// biome-ignore format: a sentence in a line
const words: Words = {
  quoted,
  place: { table: "Table", document: "Document", row: "row", rows: "rows", record: "record", line: "line", column: "column", field: "field ", and: "and", more: "more" },
  types: { text: "text", number: "a number", boolean: "true or false", date: 'a date such as "2026-11-21"', attachments: "attachments", file: "a file in the folder", list: "a list", any: "a value", optional: " or nothing" },
  cells: {
    nothing: () => "nothing",
    text: (text) => text,
    digits: (text) => `${text}, which is text because a number would lose digits`,
    error: (text) => `${text}, which is an error of a spreadsheet`,
    list: (text) => `a list of ${text}`,
    object: () => "an object"
  },
  hints: {
    write: ({ texts }) => `Write ${texts.join(" or ")}.`,
    similar: ({ path }) => `Is it ${quoted(path)}?`,
    missing: ({ name }) => `There is no ${quoted(name)} at all: was it renamed or removed?${name.includes(".") ? ' "expect" takes names of fields, no paths.' : ""}`,
    renamed: ({ name, other }) => `${quoted(name)} is missing; ${quoted(other)} is new: was it renamed?`
  }
}

const { joined, place, rows, wrongCell } = textsIn(words)

type What = "key" | "record"

const found = (count: number, what: What, view: string | null): string =>
  `${count === 0 ? `no ${what}s` : countText(count, what)}${view === null ? "" : ` in the view ${quoted(view)}`}`

const dots = (count: number, named: ReadonlyArray<unknown>): string => (count > named.length ? ", …" : "")

const ended = (text: string): string => `${text.replace(/\.$/, "")}.`

const utf8 = 'in Excel with the file type "CSV UTF-8".'

/** The page leaves out the part in brackets, because it has a button. */
const ifMeant = '. If that is meant, accept it ("vitrine accept")'

const kindTexts: Readonly<Record<ValueKind, string>> = {
  list: "a list",
  object: "an object",
  value: "a text or a number"
}

const separators: Readonly<Record<Separator, string>> = {
  ",": "a comma",
  ";": "a semicolon",
  "\t": "a tab",
  "|": 'a "|"'
}

// biome-ignore format: a sentence in a line
const limits: Readonly<Record<Limit, string>> = {
  records: "records. Split it, or request less.",
  read: "values, commas and brackets counted. Split it, or request less.",
  written: 'values with the records of links. Split it, or use fewer fields in "links".',
  characters: 'characters in one record or value. Split it, or use fewer fields in "links".',
  bytes: "bytes. Split it, or request less.",
  levels: "levels of lists and objects: it is nested too deeply. Remove levels.",
  files: 'files. Split the source, or name fewer files by "media".',
  columns: "columns. Remove some.",
  row: "bytes in one row. A double quote may be missing at the end of a cell."
}

const allow = 'in Directus, Settings, Access Policies, allow "read" of'

/** A function in `steps`. */
export interface StepCalled {
  readonly number: number
  readonly name: string
}

const stepText = ({ name, number }: StepCalled): string => `step ${number}${name === "" ? "" : ` (${name})`}`

const odd = ["is not as it should be", "are not as they should be"] as const

// biome-ignore format: a sentence in a line
const wrongs: Readonly<Record<Wrong, readonly [what: string, one: string, several: string]>> = {
  file: ["file", "cannot be saved", "cannot be saved"],
  others: ["file", "names other files", "name other files"],
  sizes: ["picture", "cannot be made smaller", "cannot be made smaller"],
  picture: ["picture", ...odd], unplayable: ["file", ...odd], encoding: ["file", ...odd], other: ["file", ...odd], cut: ["file", ...odd]
}

// biome-ignore format: a sentence in a line
const violations = {
  "expect:cell": (f: WrongCell) => wrongCell(f),
  "expect:few": (f: { least: number; count: number; what: What; view: string | null }): ViolationWords => ({ expected: `at least ${countText(f.least, f.what)}`, found: found(f.count, f.what, f.view) }),
  "expect:vanished": (f: { least: number; before: number; count: number; what: What; view: string | null }): ViolationWords => ({ expected: `at least ${f.least} of the ${countText(f.before, f.what)} in the last version`, found: found(f.count, f.what, f.view), hint: "Is a part missing? If not, remove fewer at once." }),
  "expect:renamed": (f: { name: string; other: string; what: What }): ViolationWords => ({ expected: `the field in at least one ${f.what === "key" ? "row" : "record"}, as in the last version`, found: "it nowhere", hint: words.hints.renamed({ is: "renamed", ...f }) }),
  "expect:mistakes": (f: { most: number; total: number; count: number }): ViolationWords => ({ expected: `at most ${f.most} of ${countText(f.total, "record")} to be left out`, found: `${countText(f.count, "record")} with mistakes` })
}

const violation = ({ expected, found, hint }: ViolationWords): string =>
  `expected ${expected}, found ${found}.${hint === undefined ? "" : ` ${hint}`}`

// biome-ignore format: a sentence in a line
const sentences = {
  "text:archive": () => `is a spreadsheet or an archive under another name, and no text. Export it as CSV, ${utf8}`,
  "text:encoding": () => `is not UTF-8 text. Save it with that encoding, ${utf8}`,
  "text:page": () => "it looks like a web page (HTML), perhaps one to log in.",
  "text:pointer": () => 'it is a pointer of Git LFS or git-annex in the place of the file. Fetch the file with "git lfs pull" or "git annex get".',
  "text:lost": (f: { found: string }) => `has "${f.found}" in the place of a letter that was lost when it was saved. Write it again, and look for others.`,
  "text:mark": () => "has an invisible byte order mark (U+FEFF), perhaps because files were joined. Remove it.",
  "text:doubled": (f: { found: string }) => `has "${f.found}", which is one letter that was read in another encoding and saved again. Write it again, and look for others.`,
  "text:long": (f: { size: number; most: number }) => `it has ${sizeText(f.size)}, which is more than "maxBytes" allows (${sizeText(f.most)}).`,
  "json:syntax": (f: { message: string }) => `is not valid JSON: ${f.message}`,
  "json:twice": (f: { name: string }) => `the name ${quoted(f.name)} is twice in one object, and the last one counts. Remove one.`,
  "json:digits": (f: { count: number; first: string }) => `${countText(f.count, "number")} saved as text, to lose no digit: ${excerpt(f.first)}${f.count === 1 ? "" : " first"}`,
  "json:errors": (f: { count: number; path: string }) => `the server reports ${countText(f.count, "error")} beside its data${f.path === "" ? "" : ` (${f.path})`}: a part may be missing`,
  "budget:limit": (f: { limit: Limit; most: number }) => `it has more than ${f.most.toLocaleString("en")} ${limits[f.limit]}`,

  "csv:json": () => "it looks like JSON, and not like CSV.",
  "csv:cells": (f: { cells: number; columns: number; separator: Separator; title: number | undefined }) => `the row does not have as many cells as the header line: ${f.cells}, and not ${f.columns}.${f.title === undefined ? "" : ` If row ${f.title} is a title, remove it: the first line with text names the columns.`} Cells with a line break or ${separators[f.separator]}, the separator of cells here, need double quotes around them. If the separator is another character, add a first line such as "sep=;".`,
  "csv:open": () => "a cell begins with a double quote that is never closed. Close or remove it.",
  "csv:quote": () => "a double quote inside a cell must be written twice, and the cell needs double quotes around it.",
  "csv:other": (f: { message: string }) => `is not valid CSV: ${f.message}`,
  "csv:header": () => "the header line with the names of the fields is missing.",
  "csv:nameless": (f: { number: number }) => `column ${f.number} has no name. Name it, or remove it.`,
  "csv:twice": (f: { name: string }) => `two columns are named ${JSON.stringify(f.name)}. Rename one.`,
  "csv:title": (f: { separator: Separator }) => `the header line has one cell, and ${separators[f.separator]} is in each of the rows. If this line is a title, remove it: the first line with text names the columns.`,
  "csv:alone": () => "the header line has one cell, and there are no rows, so the table is empty. If this line is a message, replace the file.",
  "csv:shortened": (f: { name: string; cell: string; count: number; first: MistakePlace }) => `${quoted(f.name)} is a number that a spreadsheet has shortened in ${f.count === 1 ? `${place(f.first)}: ${quoted(f.cell)}` : `${countText(f.count, "record")}, ${quoted(f.cell)} in ${place(f.first)} first`}. Format the column as text, and write the digits again.`,
  "csv:program": (f: { name: string; cell: string; count: number; first: MistakePlace }) => `${quoted(f.name)} is ${quoted(f.cell)} in ${f.count === 1 ? place(f.first) : `${countText(f.count, "record")}, ${place(f.first)} first`}: a program has written this in the place of a value, and pages show it. Correct the export.`,
  "csv:repeated": () => "the row repeats the header line. Remove it.",
  "cell:error": (f: { name: string; cell: string; count: number; first: MistakePlace; isSaved: boolean }) => `${quoted(f.name)} is an error of a spreadsheet in ${f.count === 1 ? `${place(f.first)}: ${quoted(f.cell)}` : `${countText(f.count, "record")}, ${quoted(f.cell)} in ${place(f.first)} first`}. ${f.isSaved ? "It counts as empty, and pages show it" : "It is saved as empty"}. Correct the formula.`,

  "keys:column": (f: { missing: string; columns: ReadonlyArray<string> }) => `it has no column ${quoted(f.missing)}; its columns are ${f.columns.map(quoted).join(", ")}. Rename one of them`,
  "keys:index": (f: { key: string; at: RowPlace; last: string }) => `the key ${quoted(f.key)} (${rows([f.at])}) is beyond ${quoted(f.last)}`,
  "keys:both": (f: { key: string; at: ReadonlyArray<RowPlace> }) => `the key ${quoted(f.key)} is a value and an array at once (${rows(f.at)}); rename one of them`,
  "keys:missing": (f: { at: ReadonlyArray<RowPlace>; count: number }) => `${f.count === 1 ? "1 row has" : `${f.count} rows have`} no text in the column "key" and ${f.count === 1 ? "is" : "are"} left out (${rows(f.at)}${dots(f.count, f.at)}). Write a key.`,
  "keys:twice": (f: { key: string; at: ReadonlyArray<RowPlace> }) => `the key ${quoted(f.key)} is in more than one row (${rows(f.at)}), and the last one counts. Remove the others.`,
  "keys:unread": (f: { name: string }) => `it has the columns "key" and "value", and is saved as a list of rows. To save one object with these keys, add ${JSON.stringify(f.name)} to "keyValueTables" in the configuration.`,

  "records:unnamed": (f: { count: number; key: string; at: ReadonlyArray<RowPlace> }) => `${countText(f.count, "record")} without ${f.key}${f.at.length === 0 ? "" : ` (${rows(f.at)}${dots(f.count, f.at)})`}, which is needed to compare versions. Write it.`,
  "records:twice": (f: { count: number; key: string; id: string; at: ReadonlyArray<RowPlace> }) => `${countText(f.count, "record")} with the ${f.key} of another record${f.count === 1 ? ":" : ", first"} ${excerpt(f.id)}${f.at.length === 0 ? "" : ` (${rows(f.at)})`}. Write another ${f.key}.`,
  "names:hidden": (f: { what: Named; name: string }) => `the name of the ${f.what} ${quoted(f.name)} has an invisible character or a needless space. Remove it.`,
  "names:alike": (f: { what: Named; names: ReadonlyArray<string> }) => `the ${f.what}s ${joined(f.names)} have almost the same name. Rename or remove one.${f.what === "key" ? "" : " A warning that it is gone can then be accepted."}`,
  "expect:left-out": (f: { cells: ReadonlyArray<WrongCell & { field: string }> }) => `is left out: ${f.cells.map(({ field, ...cell }) => `${field === "" ? "" : `${quoted(field)}: `}${violation(wrongCell(cell))}`).join(" ")}`,
  "more:mistakes": (f: { count: number }) => `There are ${countText(f.count, "more mistake")}.`,
  "more:warnings": (f: { count: number }) => `There are ${countText(f.count, "more warning")}, which are listed when others are over or accepted.`,
  "more:left-out": (f: { count: number }) => `${countText(f.count, "more record")} left out`,
  "records:unpublished": (f: { count: number }) => `${countText(f.count, "unpublished item")} in published ones, left out. Publish what is to be shown, or remove it from what leads to it`,
  "list:more": (f: { count: number; total: number | undefined }) => `${countText(f.count, "record")}${f.total === undefined ? ", and the server states that there is another page" : ` of ${f.total} that the server states`}. "next", "page" or "offset" reads all pages; total: false says that this page is enough`,
  "tables:id": (f: { name: string }) => `the column "id" is saved as ${quoted(f.name)}, because "id" is the record's own`,
  "sanity:reference": (f: { count: number; first: string }) => `${countText(f.count, "reference")} in "asset" to no picture or file of Sanity, ${quoted(f.first)} first: nothing is downloaded for it. Query what it refers to, such as a video at another service, with its link`,
  "directus:language": (f: { count: number; name: string; first: string }) => `${countText(f.count, "row")} of ${quoted(f.name)} without a language, left out; the item ${f.first} has the first. Choose the language in Directus, or delete the row`,

  "gone:document": () => `it is gone: pages that show it are empty. Bring it back${ifMeant}`,
  "gone:empty": () => `it is empty, and had records before${ifMeant}`,
  "gone:records": (f: { count: number; before: number }) => `${countText(f.count, "record")}, of ${f.before} before${ifMeant}`,
  "gone:field": (f: { name: string; other: string | undefined }) => `no record has ${quoted(f.name)} any more, which half of them had${f.other === undefined ? "" : `; ${quoted(f.other)} is new: was it renamed?`}${ifMeant}`,
  "gone:kind": (f: { name: string; kind: ValueKind }) => `in no record is ${quoted(f.name)} ${kindTexts[f.kind]} any more, as in half of them${ifMeant}`,
  "gone:names": (f: { names: ReadonlyArray<string> }) => `it has none of the fields that it had (${f.names.map(quoted).join(", ")}): is something else in its place?${ifMeant.slice(1)}`,
  "gone:files": (f: { count: number; before: number }) => `there are ${countText(f.count, "file")}, and there were ${f.before}. Bring them back${ifMeant}`,

  "gone:language": (f: { language: string }) => `"locales" asks for ${quoted(f.language)}, which no entry has. Publish the translations, or correct "locales"`,
  "rights:status": (f: { collection: string }) => `if ${f.collection} has a field "status", the token may not read it, and unpublished items are saved: ${allow} "status", or of all fields if there is none. With status: [] in the configuration, every item may be shown, unless a "filter" leaves it out`,
  "rights:translations": (f: { collection: string }) => `if ${f.collection} has "translations", the token may not read them: ${allow} them, or of all fields if there are none`,

  "links:document": (f: { known: ReadonlyArray<string> }) => `"links" names it, but there is no such document; there are: ${f.known.join(", ")}`,
  "links:list": () => '"links" names it, but it is no list of records',
  "links:unused": (f: { name: string }) => `"links" names the field ${quoted(f.name)}, which no record has`,
  "links:lost": (f: { name: string; target: string; count: number; ids: ReadonlyArray<string>; hasMore: boolean }) => `the field ${quoted(f.name)} has ${countText(f.count, "id")} that no record of ${quoted(f.target)} has; kept as they are (${f.ids.join(", ")}${f.hasMore ? ", …" : ""})`,
  "step:failed": (f: StepCalled & { reason: string; got: string | undefined }) => `${stepText(f)} failed${f.got === undefined ? "" : `, which got ${f.got} and no list of records`}: ${f.reason}`,
  "step:value": (f: StepCalled & { found: string }) => `${stepText(f)} gives ${f.found}`,
  "media:left-out": (f: { count: number }) => `${countText(f.count, "link")} without a file, in a list or beside another link; "replace" says where links become objects`,
  "media:entity": (f: { count: number }) => `${countText(f.count, "link")} in which "#" and a number are in the place of "&": servers do not get the text after "#", so different files may look the same. Correct the links, or change them in "steps"`,
  "media:nothing": (f: { find: string }) => `"media.find" finds no link in any document (${excerpt(f.find)}); "vitrine check" with the id of the source lists where links are`,

  "file:elsewhere": (f: { field: string; count: number; first: ReadonlyArray<string> }) => `${quoted(f.field)} leads to somebody's computer in ${countText(f.count, "place")}, where screens cannot read it: ${f.first.join(", ")}${dots(f.count, f.first)}. Put the file beside the content, and name it there.`,
  "file:signed": (f: { field: string; count: number; first: ReadonlyArray<string> }) => `${quoted(f.field)} has ${countText(f.count, "link")} that will expire, to files that are not saved: ${f.first.join(", ")}${dots(f.count, f.first)}. Save the files with "media", or use links that stay.`,
  "file:missing": (f: { file: string; similar: string | undefined }) => `there is no file ${quoted(f.file)} in the folder.${f.similar === undefined ? "" : ` Is it ${quoted(f.similar)}?`}`,
  "file:more": (f: { count: number }) => `${countText(f.count, "more file")} in cells: not in the folder.`,
  "file:flaw": (f: { wrong: Wrong; detail: string }) => `${ended(f.detail)}${f.wrong === "other" ? " Replace it with the right file." : ""}`,
  "file:problem": (f: { wrong: Wrong; file: string | undefined; detail: string }) => `the ${wrongs[f.wrong][0]}${f.file === undefined ? "" : ` ${quoted(f.file)}`} ${wrongs[f.wrong][1]}: ${f.detail}`,
  "file:problems": (f: { wrong: Wrong; detail: string; count: number; at: ReadonlyArray<{ place: MistakePlace; file: string | undefined }> }) => `${countText(f.count, wrongs[f.wrong][0])} ${wrongs[f.wrong][2]}: ${ended(f.detail)} ${f.at.map((at) => `${place(at.place)}${at.file === undefined ? "" : ` (${quoted(at.file)})`}`).join("; ")}${f.count > f.at.length ? `; and ${f.count - f.at.length} more` : ""}`,
  "file:empty": () => "is empty, perhaps because copying was interrupted. Copy it again, or remove it.",
  "file:spreadsheet": () => `this spreadsheet is saved as a file, and is no table. Export it as CSV, ${utf8}`,
  "file:ending": () => "this is saved as a file, and is no document, because its name ends in neither .csv nor .json. Rename it.",
  "file:system": (f: { did: "read" | "copied"; reason: string }) => `cannot be ${f.did}: ${f.reason}`,
  "file:special": (f: { kind: "pipe" | "socket" | "device" }) => `it is a ${f.kind}, and no file, so it is left out.`,
  "name:encoding": () => "the name of this file is no UTF-8, so it is left out. Rename it.",
  "name:windows": () => "Windows cannot store a file of this name. Rename it.",
  "name:same": (f: { other: string; document: string | undefined }) => f.document === undefined ? `it and ${quoted(f.other)} have one name for Windows or macOS, which cannot store both. Rename or remove one.` : `it and ${quoted(f.other)} would be the same document ${quoted(f.document)}. Rename or remove one.`,
  "file:shortcut": () => "this is a shortcut to a file elsewhere, and no file. Copy the file itself.",
  "link:folder": () => "is a link to a folder. Copy the folder itself.",
  "link:broken": () => "is a broken link. Copy the file itself, or remove the link.",
  "link:outside": () => "is a link that leads out of the folder. Copy the file into it.",
  "folder:cloud": (f: { placeholder: string }) => `it is only in the cloud: here is its placeholder ${quoted(f.placeholder)}. Keep this folder on this machine ("Always keep on this device").`,
  "folder:document": (f: { name: string; isTable: boolean; others: ReadonlyArray<string>; spreadsheet: string | undefined }) => `the configuration expects ${f.name}.csv${f.isTable ? "" : ` or ${f.name}.json`}, and this file is missing.${f.others.length === 0 ? "" : ` There are: ${f.others.join(", ")}.`}${f.spreadsheet === undefined ? (f.others.length === 0 ? "" : " Was it renamed?") : ` ${f.spreadsheet} is a spreadsheet: export it as CSV, ${utf8}`}`
}

/** `VITRINE-PROBLEMS.txt`: its title, what the screens show, and what to do. */
// biome-ignore format: a sentence in a line
const file = {
  title: "Vitrine: problems in this folder",
  rejected: "The changes in this folder are NOT shown. The screens keep what they showed before.",
  rejectedFirst: "The content of this folder is NOT shown yet, because of these mistakes:",
  shown: "The content of this folder is shown, except for these mistakes:",
  todo: ["What to do: correct the files that are named above, and save them. This file goes away by itself", "a few seconds later. It is not part of the exhibition."]
}

export const english = { file, place, sentences, violation, violations }

/** A language has the sentences of all codes. */
export type Language = typeof english
