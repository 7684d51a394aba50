/**
 * The parts of mistakes of content: places, cells, and what is expected of them.
 */

/** A row as a spreadsheet counts it, from 1 with the header line, and the id of its record. */
export interface RowPlace {
  /** Missing if the record comes from no table in a file. */
  readonly row?: number | undefined
  readonly id?: string | undefined
}

/** Where a mistake is, for people. */
export interface MistakePlace {
  /** A file that people edit, or the name of a document or table. */
  readonly name?: string | undefined
  /** Missing if `name` is a file. */
  readonly kind?: "document" | "table" | undefined
  /** The first rows. */
  readonly rows?: ReadonlyArray<RowPlace> | undefined
  /** How many records have the mistake. Default: the named records. */
  readonly records?: number | undefined
  /** The record, if it is in no row. */
  readonly record?: string | undefined
  /** A line of a text, and a character in it, both counted from 1. */
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly field?: string | undefined
}

/** The types of cells that can be expected without a schema. */
export type CellType = "text" | "number" | "boolean" | "date" | "attachments" | "file" | "list" | "any"

/** A type, or the text of a schema. */
export type Expected = { readonly type: CellType; readonly isOptional: boolean } | { readonly schema: string }

/** A cell for messages. `text` is printable: a value in quotes, the length of a list. */
export interface Cell {
  readonly is: "nothing" | "text" | "digits" | "error" | "list" | "object"
  readonly text: string
}

/** A possible reason, or a remedy. */
export type Hint =
  | { readonly is: "write"; readonly texts: ReadonlyArray<string> }
  | { readonly is: "similar"; readonly path: string }
  | { readonly is: "missing"; readonly name: string }
  | { readonly is: "renamed"; readonly name: string; readonly other: string }

/** A cell that is not as expected. */
export interface WrongCell {
  readonly expected: Expected
  readonly cell: Cell
  readonly hint?: Hint | undefined
}

/** The parts of the sentence of a violation. */
export interface ViolationWords {
  readonly expected: string
  readonly found: string
  readonly hint?: string | undefined
}

/** The kinds of mistakes of files (`verdict.ts`); `file`: the file cannot be saved. */
export type Wrong = "file" | "others" | "sizes" | "picture" | "unplayable" | "encoding" | "other" | "cut"

/** The limits of `budget.ts`, and of CSV. */
export type Limit =
  | "records"
  | "read"
  | "written"
  | "characters"
  | "bytes"
  | "levels"
  | "files"
  | "columns"
  | "row"

/** The kinds of the values of a field that is not empty. */
export const valueKinds = ["list", "object", "value"] as const
export type ValueKind = (typeof valueKinds)[number]

export type Separator = ";" | "," | "\t" | "|"

/** Kinds of things that have names. */
export type Named = "document" | "table" | "column" | "field" | "key"

/** The words of a language for places and cells. */
export interface Words {
  readonly quoted: (text: string) => string
  readonly place: Readonly<
    Record<
      "table" | "document" | "row" | "rows" | "record" | "line" | "column" | "field" | "and" | "more",
      string
    >
  >
  readonly types: Readonly<Record<CellType | "optional", string>>
  readonly cells: Readonly<Record<Cell["is"], (text: string) => string>>
  readonly hints: { readonly [I in Hint["is"]]: (hint: Extract<Hint, { readonly is: I }>) => string }
}

/** The texts of places and cells in a language. */
export const textsIn = ({ cells, hints, place: words, quoted, types }: Words) => {
  const rowText = ({ id, row }: RowPlace): string =>
    row === undefined ? (id ?? "") : `${row}${id === undefined ? "" : ` (${id})`}`

  /** `rows 6 (INV-005), 7 (INV-006)` */
  const rows = (all: ReadonlyArray<RowPlace>): string =>
    `${all[0]?.row === undefined ? "" : `${all.length === 1 ? words.row : words.rows} `}${all.map(rowText).join(", ")}`

  const hintText = (hint: Hint): string => {
    switch (hint.is) {
      case "write":
        return hints.write(hint)
      case "similar":
        return hints.similar(hint)
      case "missing":
        return hints.missing(hint)
      case "renamed":
        return hints.renamed(hint)
    }
  }

  return {
    rows,

    /** `Objects.csv, rows 6 (INV-005), 7 (INV-006) and 2 more, "title"` */
    place: ({
      column,
      field,
      kind,
      line,
      name,
      record,
      records = 1,
      rows: all = []
    }: MistakePlace): string => {
      const rest = records - (all.length || 1)
      const more = rest > 0 ? ` ${words.and} ${rest} ${words.more}` : ""
      return [
        name !== undefined && kind !== undefined ? `${words[kind]} ${quoted(name)}` : name,
        all.length > 0 ? rows(all) + more : record && `${words.record} ${record}${more}`,
        line && `${words.line} ${line}`,
        column && `${words.column} ${column}`,
        field && `${kind === undefined ? "" : words.field}${quoted(field)}`
      ]
        .filter((part) => part !== undefined && part !== "")
        .join(", ")
    },

    /** `"a", "b" and "c"` */
    joined: (names: ReadonlyArray<string>): string =>
      names
        .map(quoted)
        .join(", ")
        .replace(/, ((?:(?!, ).)*)$/, ` ${words.and} $1`),

    wrongCell: ({ cell, expected, hint }: WrongCell): ViolationWords => ({
      expected:
        "schema" in expected
          ? expected.schema
          : `${types[expected.type]}${expected.isOptional ? types.optional : ""}`,
      found: cells[cell.is](cell.text),
      hint: hint && hintText(hint)
    })
  }
}
