/**
 * What the documentation is made of: samples of code, tables, headings and links, each with its place.
 */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const repository = fileURLToPath(new URL("../..", import.meta.url))

export const read = (path: string): string => readFileSync(`${repository}/${path}`, "utf8")

/** Every page for people, by its path. */
export const pages: ReadonlyArray<string> = [
  ...readdirSync(repository).filter((name) => name.endsWith(".md")),
  ...readdirSync(`${repository}/docs`)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  "bench/README.md"
]

export interface Sample {
  readonly page: string
  /** The number of its first line, from 1. */
  readonly line: number
  readonly language: string
  /** What stands behind the language. */
  readonly info: string
  readonly text: string
}

/** As compilers write it. */
export const placeOf = ({ line, page }: Pick<Sample, "line" | "page">): string => `${page}:${line}`

/** The fenced samples of a page, in order. */
export const samplesOf = (page: string): ReadonlyArray<Sample> => {
  const text = read(page)
  return [...text.matchAll(/^```(\S*) *(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = "", 2: info = "", 3: sample = "", index }) => ({
      page,
      line: text.slice(0, index).split("\n").length + 1,
      language,
      info,
      text: sample.trimEnd()
    })
  )
}

export const allSamples: ReadonlyArray<Sample> = pages.flatMap(samplesOf)

/** The text of a page without its samples. */
export const proseOf = (page: string): string => read(page).replace(/^```[\s\S]*?^```$/gm, "")

/** What stands below a heading, up to the next one of its level or above. */
export const below = (heading: string, text: string): string => {
  const start = `\n${text}`.indexOf(`\n${heading}\n`)
  if (start === -1) throw new Error(`There is no heading "${heading}".`)
  const [level = ""] = /^#+/.exec(heading) ?? []
  const rest = text.slice(start + heading.length)
  const end = rest.search(new RegExp(`\\n#{1,${level.length}} `))
  return end === -1 ? rest : rest.slice(0, end)
}

/** The rows of the tables in a text, without their heads, as the text of their cells. */
export const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split("\n")
    .filter((line, index, lines) => line.startsWith("| ") && ![line, lines[index + 1] ?? ""].some(isRule))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim())
    )

/** What stands between the head of a table and its rows. */
const isRule = (line: string) => /^\|[\s|:-]+$/.test(line)

/** What is written as code in a text. */
export const codeIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)

/** As the hosts of repositories make them of headings. */
export const anchorsOf = (page: string): ReadonlyArray<string> =>
  [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-")
  )

/** Where the links of a page lead, but for those to other hosts. */
export const linksOf = (page: string): ReadonlyArray<string> =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^https?:/.test(target))
