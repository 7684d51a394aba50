/**
 * The tables of options in a page, made of the doc comments of the options: name, type, default and the first sentence.
 */
import { below, read } from "./documents.ts"

export interface OptionTable {
  readonly heading: string
  /** If several have an option, the last one counts. */
  readonly interfaces: ReadonlyArray<readonly [file: string, name: string]>
}

/** The page, with the first table below each heading made anew. */
export const withOptionTables = (text: string, tables: ReadonlyArray<OptionTable>): string =>
  tables.reduce((text, { heading, interfaces }) => {
    const section = below(heading, text)
    const [table] = section.match(/(?<=\n)\|.*(?:\n\|.*)*/) ?? []
    if (table === undefined) throw new Error(`There is no table below "${heading}".`)
    const options = [...new Map(interfaces.flatMap(([file, name]) => rowsOfInterface(file, name))).values()]
    const rows = [false, true].flatMap((optional) =>
      options.flatMap(({ isOptional, row }) => (isOptional === optional ? [row] : []))
    )
    const made = ["| option | type | default | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n")
    return text.replace(section, () => section.replace(table, () => made))
  }, text)

const property = /^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)(\??): ([\s\S]+?)(?=\n\n|\n}$)/gm

/** The options of an interface that a program cannot set to `undefined`, though it may leave them out. */
export const notUndefined = (file: string, name: string): ReadonlyArray<string> =>
  membersOf(file, name).flatMap(([, , option = "", optional, type]) =>
    optional === "" || /\| undefined$/.test(type ?? "") ? [] : [`${name}.${option}`]
  )

const membersOf = (file: string, name: string) => {
  const [, members] = new RegExp(`^export interface ${name}\\b([\\s\\S]*?\n})$`, "m").exec(read(file)) ?? []
  if (members === undefined) throw new Error(`There is no interface ${name} in ${file}.`)
  return [...members.matchAll(property)]
}

const rowsOfInterface = (file: string, name: string) =>
  membersOf(file, name).map(
    ([, comment = "", option = "", optional = "", type = ""]) =>
      [option, { isOptional: optional !== "", row: rowOf(option, type, comment) }] as const
  )

const rowOf = (option: string, type: string, comment: string) => {
  const words = comment.replace(/\s*\n?\s+\*?\s*/g, " ").trim()
  const [, text = "", given = ""] = /^(.*?)(?: Default (.*))?$/.exec(words) ?? []
  const sentence = text.replace(/\. [A-Z`].*$/, "").replace(/\.$/, "")
  const value = given.replace(/\.$/, "").replace(/^(\w+): .*/, "$1")
  const cells = [`\`${option}\``, linked(typeOf(type)), value, sentence]
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
}

/** To the section that describes the type. */
const linked = (type: string): string => {
  const [, anchor] =
    Object.entries({
      Media: "media",
      Image: "images",
      TableExpectation: "expect",
      JsonDocument: "a-document-of-jsonsource"
    }).find(([name]) => type.includes(name)) ?? []
  return anchor === undefined ? `\`${type}\`` : `[\`${type}\`](#${anchor})`
}

/** As a user of the option thinks of it. */
const typeOf = (type: string): string =>
  type.includes("=>")
    ? "function"
    : type
        .replace(/ \| undefined$/, "")
        .replace(/\bstring \| Redacted(?:\.Redacted)?/g, "Secret")
        .replace(/^(string \| number|DurationConfig)$/, "Duration")
        .replace(/<(?:EffectSchema|FieldSchema|Secret)>/g, "")
        .replace(/ReadonlyArray<(\w+)>/g, "$1[]")
        .replace("ReadonlyArray<", "Array<")
        .replace(/Readonly<(Record<.*>)>/, "$1")
        .replace("FieldExpectations | FieldSchema", "Record<string, FieldType>")
        .replace("ContentSourceDefinition", "Source")
        .replace(/\b(\w+)Config\b/g, "$1")
