/**
 * The sentences about mistakes of content, in German.
 */
import type { Language } from "./englishMistakes.ts"
import {
  type Limit,
  type RowPlace,
  type Separator,
  textsIn,
  type ValueKind,
  type Words,
  type Wrong
} from "./mistakeParts.ts"
import { excerpt, quotedName } from "./printable.ts"

const germanQuotes = (json: string): string => `„${json.slice(1, -1).replace(/\\(["\\])/g, "$1")}“`

const quoted = (name: string): string => germanQuotes(quotedName(name, 300))

const valueText = (text: string): string => (text.startsWith('"') ? germanQuotes(text) : text)

// biome-ignore format: a sentence in a line
const words: Words = {
  quoted,
  place: { table: "Tabelle", document: "Dokument", row: "Zeile", rows: "Zeilen", record: "Eintrag", line: "Textzeile", column: "Zeichen", field: "", and: "und", more: "weitere" },
  types: { text: "ein Text", number: "eine Zahl", boolean: "true oder false", date: "ein Datum wie 2026-11-21", attachments: "ein Anhang", file: "eine Datei in diesem Ordner", list: "eine Liste", any: "ein Wert", optional: " oder nichts" },
  cells: {
    nothing: () => "nichts",
    text: valueText,
    digits: (text) => `${valueText(text)}, was als Text gilt, weil eine Zahl Stellen verlieren würde`,
    error: (text) => `${valueText(text)}, ein Fehler der Tabellenkalkulation. Korrigieren Sie die Formel`,
    list: (text) => `eine Liste der Länge ${text}`,
    object: () => "ein Objekt"
  },
  hints: {
    write: ({ texts }) => `Schreiben Sie ${texts.join(" oder ")}.`,
    similar: ({ path }) => `Meinen Sie ${quoted(path)}?`,
    missing: ({ name }) => `${quoted(name)} gibt es überhaupt nicht. Wurde es umbenannt oder gelöscht? Benennen Sie es wieder so.`,
    renamed: ({ name, other }) => `${quoted(name)} fehlt, und ${quoted(other)} ist neu. Wurde es umbenannt? Benennen Sie es wieder wie vorher.`
  }
}

const { joined, place, rows, wrongCell } = textsIn(words)

const number = (value: number): string => value.toLocaleString("de")

const counted = (count: number, one: string, several: string): string =>
  `${number(count)} ${count === 1 ? one : several}`

const records = (count: number, what: "key" | "record", view: string | null): string =>
  `${what === "key" ? `${number(count)} Schlüssel` : counted(count, "Eintrag", "Einträge")}${view === null ? "" : ` in der Ansicht ${quoted(view)}`}`

const size = (bytes: number): string =>
  `${(bytes / 1024 ** 2).toLocaleString("de", { maximumFractionDigits: 1 })} MiB`

const inRows = (all: ReadonlyArray<RowPlace>): string => (all.length === 0 ? "" : ` (${rows(all)})`)

const listed = (named: ReadonlyArray<string>, count: number): string =>
  `${named.join(", ")}${count > named.length ? " …" : ""}`

const meant = (similar: string | undefined): string =>
  similar === undefined ? "" : ` Meinen Sie ${quoted(similar)}?`

const utf8 = "in Excel mit dem Dateityp „CSV UTF-8“."

const kindTexts: Readonly<Record<ValueKind, string>> = {
  list: "eine Liste",
  object: "ein Objekt",
  value: "ein Text oder eine Zahl"
}

const ifMeant = " Falls das so sein soll, bestätigen Sie es im Dashboard."

// biome-ignore format: a sentence in a line
const separators: Readonly<Record<Separator, string>> = { ",": "einem Komma", ";": "einem Semikolon", "\t": "einem Tabulator", "|": "einem „|“" }

// biome-ignore format: a sentence in a line
const limits: Readonly<Record<Limit, string>> = {
  records: "Einträge. Teilen Sie die Datei.",
  read: "Werte. Teilen Sie die Datei.",
  written: "Werte mit den verknüpften Einträgen. Teilen Sie die Datei.",
  characters: "Zeichen in einem Eintrag. Kürzen Sie ihn.",
  bytes: "Byte. Teilen Sie die Datei.",
  levels: "Ebenen von Listen und Objekten. Entfernen Sie Ebenen.",
  files: "Dateien. Entfernen Sie Dateien, die niemand mehr braucht.",
  columns: "Spalten. Entfernen Sie einige.",
  row: "Byte in einer Zeile. Vielleicht fehlt das Anführungszeichen am Ende einer Zelle."
}

// biome-ignore format: a sentence in a line
const flaws: Readonly<Record<Wrong, string>> = {
  file: "Die Datei kann nicht gespeichert werden.",
  others: "Die Datei braucht weitere Dateien, die nicht gespeichert werden.",
  sizes: "Das Bild kann nicht verkleinert werden; vielleicht ist es beschädigt. Exportieren oder kopieren Sie es noch einmal.",
  picture: "Browser zeigen dieses Bild nicht oder nicht ganz. Exportieren Sie es noch einmal, als JPEG.",
  unplayable: "Browser können diese Datei nicht abspielen. Exportieren Sie Filme als MP4 (H.264 und AAC), Töne als MP3 und Untertitel als WebVTT.",
  encoding: "Die Untertitel sind nicht in UTF-8 gespeichert. Speichern Sie sie mit dieser Kodierung.",
  other: "Die Datei ist leer, oder sie enthält etwas anderes, als ihr Name sagt. Ersetzen Sie sie durch die richtige Datei.",
  cut: "Das Ende der Datei fehlt; vielleicht wurde das Kopieren unterbrochen. Kopieren Sie die Datei noch einmal in den Ordner."
}

const flaw = (wrong: Wrong, detail: string): string =>
  `${flaws[wrong]}${wrong === "file" ? ` Grund: ${detail}` : ""}`

// biome-ignore format: a sentence in a line
const things = { document: ["des Dokuments", "Die Dokumente"], table: ["der Tabelle", "Die Tabellen"], column: ["der Spalte", "Die Spalten"], field: ["des Felds", "Die Felder"], key: ["des Schlüssels", "Die Schlüssel"] } as const

// biome-ignore format: a sentence in a line
export const german: Language = {
  place,
  violation: ({ expected, found, hint }) => `Erwartet: ${expected}. Gefunden: ${found}.${hint === undefined ? "" : ` ${hint}`}`,
  violations: {
    "expect:cell": wrongCell,
    "expect:few": (f) => ({ expected: `mindestens ${records(f.least, f.what, null)}`, found: records(f.count, f.what, f.view), hint: "Fehlt ein Teil?" }),
    "expect:vanished": (f) => ({ expected: `mindestens ${number(f.least)} der bisher ${records(f.before, f.what, null)}`, found: records(f.count, f.what, f.view), hint: "Fehlt ein Teil? Wenn nicht, entfernen Sie weniger auf einmal." }),
    "expect:renamed": (f) => ({ expected: "dieses Feld wie bisher, in mindestens einem Eintrag", found: "in keinem", hint: words.hints.renamed({ is: "renamed", ...f }) }),
    "expect:mistakes": (f) => ({ expected: `höchstens ${number(f.most)} von ${records(f.total, "record", null)} mit Fehlern, die weggelassen werden`, found: records(f.count, "record", null) })
  },
  sentences: {
    "text:archive": () => `Dies ist eine Arbeitsmappe oder ein Archiv unter einem anderen Namen, und kein Text. Exportieren Sie sie als CSV, ${utf8}`,
    "text:encoding": () => `Die Datei ist kein Text in UTF-8. Speichern Sie sie mit dieser Kodierung, ${utf8}`,
    "text:page": () => "Die Datei sieht aus wie eine Webseite (HTML), vielleicht die einer Anmeldung. Ersetzen Sie sie durch die richtige Datei.",
    "text:pointer": () => "Statt der Datei liegt hier ein Verweis von Git LFS oder git-annex. Holen Sie die Datei mit „git lfs pull“ oder „git annex get“.",
    "text:lost": (f) => `Beim Speichern ist ein Buchstabe verloren gegangen: An seiner Stelle steht „${f.found}“. Schreiben Sie ihn neu, und suchen Sie nach weiteren.`,
    "text:mark": () => "Hier steht ein unsichtbares Zeichen (U+FEFF), vielleicht weil Dateien aneinandergehängt wurden. Löschen Sie es.",
    "text:doubled": (f) => `„${f.found}“ ist ein Buchstabe, der in einer anderen Kodierung gelesen und wieder gespeichert wurde. Schreiben Sie ihn neu, und suchen Sie nach weiteren.`,
    "text:long": (f) => `Die Datei hat ${size(f.size)}; erlaubt sind höchstens ${size(f.most)}. Teilen Sie sie.`,
    "json:syntax": () => "Das ist kein gültiges JSON. Oft fehlt kurz davor ein Komma, eine Klammer oder ein Anführungszeichen, oder eines ist zu viel.",
    "json:twice": (f) => `Der Name ${quoted(f.name)} steht zweimal in einem Objekt, und der letzte zählt. Entfernen Sie einen.`,
    "json:digits": (f) => `${counted(f.count, "Zahl wurde", "Zahlen wurden")} als Text gespeichert, damit keine Stelle verloren geht${f.count === 1 ? "" : ", zuerst"}: ${excerpt(f.first)}`,
    "json:errors": (f) => `Der Server meldet neben den Daten ${counted(f.count, "Fehler", "Fehler")}${f.path === "" ? "" : ` (${f.path})`}: Vielleicht fehlt ein Teil`,
    "budget:limit": (f) => `Hier sind mehr als ${number(f.most)} ${limits[f.limit]}`,

    "csv:json": () => "Die Datei sieht aus wie JSON, und nicht wie CSV. Geben Sie ihr die Endung .json.",
    "csv:cells": (f) => `Die Zeile hat ${counted(f.cells, "Zelle", "Zellen")}, die Kopfzeile aber ${number(f.columns)}.${f.title === undefined ? "" : ` Falls Zeile ${f.title} eine Überschrift ist, entfernen Sie sie: Die erste Zeile mit Text benennt die Spalten.`} Zellen mit einem Zeilenumbruch oder mit ${separators[f.separator]}, dem Trennzeichen dieser Datei, brauchen Anführungszeichen (") um sich. Falls ein anderes Zeichen die Zellen trennt, fügen Sie als erste Zeile zum Beispiel sep=; ein.`,
    "csv:open": () => 'Eine Zelle beginnt mit einem Anführungszeichen ("), das nie geschlossen wird. Schließen oder löschen Sie es.',
    "csv:quote": () => 'Ein Anführungszeichen (") in einer Zelle muss doppelt stehen (""), und die Zelle braucht Anführungszeichen um sich.',
    "csv:other": (f) => `Das ist kein gültiges CSV: ${f.message}`,
    "csv:header": () => "Die Kopfzeile mit den Namen der Spalten fehlt. Fügen Sie sie ein.",
    "csv:nameless": (f) => `Spalte ${f.number} hat keinen Namen. Benennen oder entfernen Sie sie.`,
    "csv:twice": (f) => `Zwei Spalten heißen ${quoted(f.name)}. Benennen Sie eine um.`,
    "csv:title": (f) => `Die Kopfzeile hat nur eine Zelle, aber jede Zeile darunter ist mit ${separators[f.separator]} getrennt. Falls diese Zeile eine Überschrift ist, entfernen Sie sie: Die erste Zeile mit Text benennt die Spalten.`,
    "csv:alone": () => "Die Kopfzeile hat nur eine Zelle, und es gibt keine weiteren Zeilen. Die Tabelle ist also leer. Falls diese Zeile eine Meldung ist, ersetzen Sie die Datei.",
    "csv:shortened": (f) => `${quoted(f.name)} hat in ${f.count === 1 ? place(f.first) : counted(f.count, "Eintrag", "Einträgen")} eine Zahl, deren Ziffern die Tabellenkalkulation gekürzt hat${f.count === 1 ? `: ${quoted(f.cell)}` : `, zuerst ${quoted(f.cell)} in ${place(f.first)}`}. Formatieren Sie die Spalte als Text, und schreiben Sie die Ziffern neu.`,
    "csv:program": (f) => `${quoted(f.name)} ist in ${f.count === 1 ? place(f.first) : counted(f.count, "Eintrag", "Einträgen")} ${quoted(f.cell)}${f.count === 1 ? "" : `, zuerst in ${place(f.first)}`}: Das hat ein Programm statt eines Werts geschrieben, und Seiten zeigen es. Korrigieren Sie den Export.`,
    "csv:repeated": () => "Diese Zeile wiederholt die Kopfzeile. Entfernen Sie sie.",
    "cell:error": (f) => `${quoted(f.name)} hat in ${f.count === 1 ? place(f.first) : counted(f.count, "Eintrag", "Einträgen")} einen Fehler der Tabellenkalkulation${f.count === 1 ? `: ${quoted(f.cell)}` : `, zuerst ${quoted(f.cell)} in ${place(f.first)}`}. ${f.isSaved ? "Die Zelle gilt als leer, und Seiten zeigen den Fehler" : "Die Zelle wird als leer gespeichert"}. Korrigieren Sie die Formel.`,

    "keys:column": (f) => `Die Spalte ${quoted(f.missing)} fehlt. Es gibt die Spalten ${f.columns.map(quoted).join(", ")}. Benennen Sie eine davon um.`,
    "keys:index": (f) => `Der Schlüssel ${quoted(f.key)}${inRows([f.at])} liegt hinter dem letzten möglichen, ${quoted(f.last)}. Nummerieren Sie neu.`,
    "keys:both": (f) => `Der Schlüssel ${quoted(f.key)} ist zugleich ein Wert und eine Liste${inRows(f.at)}. Benennen Sie einen davon um.`,
    "keys:missing": (f) => `${counted(f.count, "Zeile hat", "Zeilen haben")} keinen Text in der Spalte „key“ (${listed([rows(f.at)], f.count - f.at.length + 1)}) und ${f.count === 1 ? "wird" : "werden"} weggelassen. Tragen Sie einen Schlüssel ein.`,
    "keys:twice": (f) => `Der Schlüssel ${quoted(f.key)} steht in mehr als einer Zeile${inRows(f.at)}, und die letzte zählt. Entfernen Sie die anderen.`,
    "keys:unread": (f) => `Die Tabelle hat die Spalten „key“ und „value“, wird aber als Liste von Zeilen gespeichert. Soll sie Einstellungen enthalten, muss in der Konfiguration unter „keyValueTables“ ${quoted(f.name)} stehen.`,

    "records:unnamed": (f) => `${counted(f.count, "Eintrag hat", "Einträge haben")} nichts unter ${quoted(f.key)}${inRows(f.at)}, woran man Einträge wiedererkennt. Tragen Sie es ein.`,
    "records:twice": (f) => `${counted(f.count, "Eintrag hat", "Einträge haben")} dasselbe unter ${quoted(f.key)} wie ein anderer Eintrag${f.count === 1 ? ":" : ", zuerst"} ${excerpt(f.id)}${inRows(f.at)}. Geben Sie jedem etwas Eigenes.`,
    "names:hidden": (f) => `Der Name ${things[f.what][0]} ${quoted(f.name)} enthält ein unsichtbares Zeichen oder ein überflüssiges Leerzeichen. Löschen Sie es.`,
    "names:alike": (f) => `${things[f.what][1]} ${joined(f.names)} heißen fast gleich. Benennen Sie eins davon um, oder entfernen Sie es.${f.what === "key" ? "" : " Die Warnung, dass es dann fehlt, kann bestätigt werden."}`,
    "expect:left-out": (f) => `wird weggelassen. ${f.cells.map(({ field, ...cell }) => `${field === "" ? "" : `${quoted(field)}: `}${german.violation(wrongCell(cell))}`).join(" ")}`,
    "more:mistakes": (f) => `Es gibt ${counted(f.count, "weiteren", "weitere")} Fehler.`,
    "more:warnings": (f) => `Es gibt ${counted(f.count, "weitere Warnung", "weitere Warnungen")}. Sie stehen hier, sobald andere behoben oder bestätigt sind.`,
    "more:left-out": (f) => `${counted(f.count, "weiterer Eintrag wird", "weitere Einträge werden")} weggelassen.`,
    "records:unpublished": (f) => `${counted(f.count, "Eintrag in veröffentlichten Einträgen ist", "Einträge in veröffentlichten Einträgen sind")} nicht veröffentlicht, und ${f.count === 1 ? "fehlt" : "fehlen"} hier.`,
    "list:more": (f) => `Es sind ${counted(f.count, "Eintrag", "Einträge")}${f.total === undefined ? ", und der Server hat eine weitere Seite" : ` von ${number(f.total)}, die der Server nennt`}. „next“, „page“ oder „offset“ liest alle Seiten.`,
    "tables:id": (f) => `Die Spalte „id“ wird als ${quoted(f.name)} gespeichert, weil „id“ der Eintrag selbst hat.`,
    "sanity:reference": (f) => `${counted(f.count, "Verweis führt", "Verweise führen")} zu keinem Bild und keiner Datei in Sanity, zuerst ${quoted(f.first)}.`,
    "directus:language": (f) => `${counted(f.count, "Zeile", "Zeilen")} von ${quoted(f.name)} ohne Sprache ${f.count === 1 ? "fehlt" : "fehlen"} hier, zuerst im Eintrag ${f.first}. Wählen Sie in Directus die Sprache, oder löschen Sie die Zeile.`,

    "gone:document": () => `Die Datei fehlt, und Seiten, die sie zeigen, sind leer. Legen Sie sie wieder in den Ordner.${ifMeant}`,
    "gone:empty": () => `Die Datei hat keine Einträge mehr.${ifMeant}`,
    "gone:records": (f) => `Von ${counted(f.before, "Eintrag ist", "Einträgen sind")} noch ${number(f.count)} da.${ifMeant}`,
    "gone:field": (f) => `Kein Eintrag hat mehr ${quoted(f.name)}; vorher hatte es jeder zweite.${f.other === undefined ? "" : ` ${quoted(f.other)} ist neu: Wurde es umbenannt?`}${ifMeant}`,
    "gone:kind": (f) => `In keinem Eintrag ist ${quoted(f.name)} mehr ${kindTexts[f.kind]}; vorher war es so in jedem zweiten.${ifMeant}`,
    "gone:names": (f) => `Keines der bisherigen Felder ist noch da (${f.names.map(quoted).join(", ")}). Steht hier etwas anderes?${ifMeant}`,
    "gone:files": (f) => `Von ${counted(f.before, "Datei ist", "Dateien sind")} noch ${number(f.count)} da. Legen Sie die anderen wieder in den Ordner.${ifMeant}`,

    "gone:language": (f) => `„locales“ nennt ${quoted(f.language)}, aber kein Eintrag hat diese Sprache. Veröffentlichen Sie die Übersetzungen, oder korrigieren Sie „locales“.`,
    "rights:status": (f) => `Falls ${f.collection} ein Feld „status“ hat, darf das Token es nicht lesen, und unveröffentlichte Einträge werden gespeichert. Erlauben Sie in Directus unter Einstellungen, Zugriffsrichtlinien, „status“ zu lesen, oder alle Felder, falls es keines gibt. Mit status: [] in der Konfiguration darf jeder Eintrag gezeigt werden, den kein „filter“ weglässt.`,
    "rights:translations": (f) => `Falls ${f.collection} „translations“ hat, darf das Token sie nicht lesen. Erlauben Sie in Directus unter Einstellungen, Zugriffsrichtlinien, sie zu lesen, oder alle Felder, falls es keine gibt.`,

    "links:document": (f) => `„links“ nennt dieses Dokument, aber es fehlt. Es gibt: ${f.known.join(", ")}.`,
    "links:list": () => "„links“ nennt dieses Dokument, aber es ist keine Liste von Einträgen.",
    "links:unused": (f) => `„links“ nennt das Feld ${quoted(f.name)}, das in keinem Eintrag vorkommt.`,
    "links:lost": (f) => `Das Feld ${quoted(f.name)} nennt ${counted(f.count, "Eintrag", "Einträge")}, die es in ${quoted(f.target)} nicht gibt: ${f.ids.join(", ")}${f.hasMore ? " …" : ""}.`,
    "step:failed": (f) => `Schritt ${f.number}${f.name === "" ? "" : ` (${f.name})`} ist fehlgeschlagen: ${f.reason}`,
    "step:value": (f) => `Schritt ${f.number}${f.name === "" ? "" : ` (${f.name})`} ergibt kein JSON: ${f.found}`,
    "media:left-out": (f) => `${counted(f.count, "Link steht", "Links stehen")} in einer Liste oder neben einem anderen Link; ${f.count === 1 ? "seine Datei wird" : "ihre Dateien werden"} nicht gespeichert. In „replace“ steht, wo Links zu Objekten werden.`,
    "media:entity": (f) => `${counted(f.count, "Link hat", "Links haben")} „#“ und eine Zahl statt „&“. Server bekommen den Text hinter „#“ nicht. Korrigieren Sie die Links.`,
    "media:nothing": (f) => `„media.find“ (${excerpt(f.find)}) findet in keinem Dokument einen Link.`,

    "file:elsewhere": (f) => `${quoted(f.field)} führt in ${counted(f.count, "Fall", "Fällen")} auf einen anderen Rechner, den die Bildschirme nicht lesen können: ${listed(f.first, f.count)}. Legen Sie die Datei in den Ordner, und tragen Sie ihren Namen dort ein.`,
    "file:signed": (f) => `${quoted(f.field)} hat ${counted(f.count, "Link", "Links")}, deren Gültigkeit abläuft und deren Dateien nicht gespeichert werden: ${listed(f.first, f.count)}. Speichern Sie die Dateien mit "media", oder verwenden Sie dauerhafte Links.`,
    "file:missing": (f) => `Die Datei ${quoted(f.file)} ist nicht im Ordner.${meant(f.similar)}`,
    "file:more": (f) => `${counted(f.count, "weitere Datei", "weitere Dateien")} aus Zellen: nicht im Ordner.`,
    "file:flaw": (f) => flaw(f.wrong, f.detail),
    "file:problem": (f) => `${f.file === undefined ? "" : `${quoted(f.file)}: `}${flaw(f.wrong, f.detail)}`,
    "file:problems": (f) => `${flaw(f.wrong, f.detail)} Das betrifft ${counted(f.count, "Datei", "Dateien")}: ${listed(f.at.map((at) => `${place(at.place)}${at.file === undefined ? "" : ` (${quoted(at.file)})`}`), f.count)}`,
    "file:empty": () => "Die Datei ist leer; vielleicht wurde das Kopieren unterbrochen. Kopieren Sie sie noch einmal, oder entfernen Sie sie.",
    "file:spreadsheet": () => `Diese Arbeitsmappe wird als Datei gespeichert, und nicht als Tabelle. Exportieren Sie sie als CSV, ${utf8}`,
    "file:ending": () => "Diese Datei wird nicht als Tabelle gelesen, weil ihr Name weder auf .csv noch auf .json endet. Benennen Sie sie um.",
    "file:system": (f) => `Die Datei kann nicht ${f.did === "read" ? "gelesen" : "kopiert"} werden. Ist sie in einem anderen Programm geöffnet, oder fehlen Rechte? (${f.reason})`,
    "file:special": () => "Das ist keine gewöhnliche Datei, deshalb wird sie weggelassen. Entfernen Sie sie.",
    "name:encoding": () => "Der Name dieser Datei ist nicht in UTF-8, deshalb wird sie weggelassen. Benennen Sie sie um.",
    "name:windows": () => "Unter diesem Namen kann Windows keine Datei speichern. Benennen Sie sie um.",
    "name:same": (f) => f.document === undefined ? `Diese Datei und ${quoted(f.other)} heißen für Windows oder macOS gleich. Benennen Sie eine um, oder entfernen Sie eine.` : `Diese Datei und ${quoted(f.other)} wären dasselbe Dokument ${quoted(f.document)}. Benennen Sie eine um, oder entfernen Sie eine.`,
    "file:shortcut": () => "Dies ist eine Verknüpfung mit einer Datei an einem anderen Ort. Kopieren Sie die Datei selbst.",
    "link:folder": () => "Das ist eine Verknüpfung mit einem Ordner. Kopieren Sie den Ordner selbst.",
    "link:broken": () => "Diese Verknüpfung führt ins Leere. Kopieren Sie die Datei selbst, oder entfernen Sie die Verknüpfung.",
    "link:outside": () => "Diese Verknüpfung führt aus dem Ordner hinaus. Kopieren Sie die Datei hinein.",
    "folder:cloud": (f) => `Die Datei liegt nur in der Cloud; hier ist ihr Platzhalter ${quoted(f.placeholder)}. Stellen Sie für diesen Ordner „Immer auf diesem Gerät behalten“ ein.`,
    "folder:document": (f) => `Die Konfiguration erwartet ${f.name}.csv${f.isTable ? "" : ` oder ${f.name}.json`}, und diese Datei fehlt.${f.others.length === 0 ? "" : ` Es gibt: ${f.others.join(", ")}.`}${f.spreadsheet === undefined ? (f.others.length === 0 ? "" : " Wurde sie umbenannt?") : ` ${f.spreadsheet} ist eine Arbeitsmappe: Exportieren Sie sie als CSV, ${utf8}`}`
  },
  file: {
    title: "Vitrine: Fehler in diesem Ordner",
    rejected: "Die Änderungen in diesem Ordner werden NICHT gezeigt. Die Bildschirme zeigen, was sie vorher gezeigt haben.",
    rejectedFirst: "Der Inhalt dieses Ordners wird noch NICHT gezeigt, weil er diese Fehler hat:",
    shown: "Der Inhalt dieses Ordners wird gezeigt, bis auf diese Fehler:",
    todo: ["Was zu tun ist: Korrigieren Sie die genannten Dateien, und speichern Sie sie. Diese Datei verschwindet", "wenige Sekunden danach von selbst. Sie ist kein Teil der Ausstellung."]
  }
}
