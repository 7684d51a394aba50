/**
 * No text from outside stops the controller: each regular expression takes time in proportion to its text, or its text
 * is short.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, sep } from "node:path"
import { setImmediate } from "node:timers/promises"
import { afterAll, expect, it } from "@effect/vitest"
import { checkSync } from "recheck"
import type { Node } from "typescript/unstable/ast"
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isRegularExpressionLiteral
} from "typescript/unstable/ast/is"
import { API } from "typescript/unstable/sync"

/** The judge in this process, which needs neither Java nor a program of the system. */
process.env.RECHECK_SYNC_BACKEND = "pure"

const root = join(import.meta.dirname, "../..")
const folder = mkdtempSync(join(tmpdir(), "vitrine-expressions-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** The square of so many characters takes some milliseconds. */
const mostCharacters = 4096

interface Short {
  readonly expression: RegExp
  /** The most characters of its text. */
  readonly characters: number
  /** What limits them. */
  readonly by: string
}

const elsewhereInText = /["'(<=](?:file:[\\/]|blob:|cid:\S+@|(?:webkit-fake-url|applewebdata):\/\/|[a-z]:\\)/i

/** The expressions whose time grows with the square of their text. */
const short: ReadonlyArray<Short> = [
  {
    expression: /^-+|-+$/g,
    characters: 63,
    by: "`slice` before it: 63 in `machine.ts`, 60 in `mediaTypes.ts`"
  },
  {
    expression:
      / *\((?:\d+|[^()]*(?:conflict|konflikt|conflit|\bcopy\b|kopie|copie|c[oó]pia|kopia)[^()]*)\)$/,
    characters: 255,
    by: "`maxLength` in `names.ts`"
  },
  {
    expression: /[ _-]+(?:copy|kopie|copie|c[oó]pia|kopia|コピー|副本)(?: \d+)?$/,
    characters: 255,
    by: "`maxLength` in `names.ts`"
  },
  {
    expression: /-(?:desktop|laptop)-[a-z0-9]{6,8}$|-[\w-]*(?:macbook|imac)[\w-]*$/,
    characters: 255,
    by: "`maxLength` in `names.ts`"
  },
  {
    expression:
      /(?:^|["'(<=\s])https?:\/\/localhost(?::\d+)?\/\S+\.(?:jpe?g|png|gif|webp|avif|svg|mp4|webm|mp3|pdf)\b/i,
    characters: 507,
    by: "`slice` in `links.ts`"
  },
  { expression: elsewhereInText, characters: 120, by: "`slice` in `links.ts`" },
  { expression: /[?#]\S*$/, characters: 1024, by: "`maxLength` in `namedFiles.ts`" },
  { expression: /<title[^>]*>(.*?)<\/title/is, characters: 4096, by: "`maxText` in `requestErrors.ts`" },
  { expression: /<[^>]*>/g, characters: 4096, by: "`maxText` in `requestErrors.ts`" },
  { expression: /(folderSource|contentServer)\(\{.*\}\)/g, characters: 4096, by: "our own templates" }
]

/** The expressions that the program composes, with an example of each. */
const composed = new Map([
  ["new RegExp(`\\\\b…\\\\b`)", /\bRow\b/],
  ["new RegExp(`(?<!/)(?:/+…)?/*$`)", /(?<!\/)(?:\/+admin)?\/*$/],
  [
    'new RegExp(`^[…]+|(?<![…])[…]+$`, "g")',
    /^[\s\u200b-\u200f]+|(?<![\s\u200b-\u200f])[\s\u200b-\u200f]+$/g
  ],
  ['new RegExp(`[…]+`, "g")', /[\u00ad\u200b\ufeff]+/g],
  [
    'new RegExp(`^[…]*(?:…|…)`, "i")',
    /^[\s\u200b-\u200f]*(?:(?:file:[\\/]|blob:|cid:\S+@|[a-z]:\\)|(?:content|smb):\/\/|[a-z]:\/\w|\\\\[^\\/\s]+\\)/i
  ],
  ['new RegExp(`["\'(<=]…`, "i")', elsewhereInText],
  [
    'new RegExp(characters.slice(0, shortestSecret).map(patternOf).join(""), "gi")',
    /(?:\\{0,7}?(?:%2F|\/)){8}/gi
  ],
  ['new RegExp(patternOf(character), "iy")', /\\{0,7}?(?:%2F|\/)/iy]
])

const files = ["src", "deploy", "templates"].flatMap((part) =>
  readdirSync(join(root, part), { recursive: true, encoding: "utf8" }).map((file) => join(root, part, file))
)

/** The scripts of pages, as files of their own. */
const scripts = files
  .filter((file) => file.endsWith(".html"))
  .flatMap((file, page) =>
    [...readFileSync(file, "utf8").matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(
      ([, script = ""], index) => {
        const place = join(folder, `${page}-${index}.js`)
        writeFileSync(place, script)
        return place
      }
    )
  )

const sources = [...files.filter((file) => /\.(?:[cm]?js|tsx?)$/.test(file)), ...scripts]

interface Found {
  readonly file: string
  /** As in the source: `/a+/g`, or `new RegExp(…)`. */
  readonly text: string
  readonly isComposed: boolean
}

const expressionsIn = (file: string, node: Node): ReadonlyArray<Found> => {
  const isComposed =
    (isNewExpression(node) || isCallExpression(node)) &&
    isIdentifier(node.expression) &&
    node.expression.text === "RegExp"
  const found =
    isComposed || isRegularExpressionLiteral(node)
      ? [{ file, text: node.getText().replace(/\$\{[^}]*\}/g, "…"), isComposed }]
      : []
  node.forEachChild((child) => {
    found.push(...expressionsIn(file, child))
  })
  return found
}

const findExpressions = (): ReadonlyArray<Found> => {
  const compilerOptions = { allowJs: true, jsx: "preserve", noLib: true, noResolve: true, types: [] }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: sources }))
  const api = new API({ cwd: folder })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(folder, "tsconfig.json")] }).getProjects()
    return sources.flatMap((path) => {
      const source = project?.program.getSourceFile(path)
      if (source === undefined) throw new Error(`${path} is not parsed`)
      return expressionsIn(relative(root, path).replaceAll(sep, "/"), source)
    })
  } finally {
    api.close()
  }
}

const found = findExpressions()

/** Limits without times: a busy machine does not change a verdict. Three rounds find all that ten find here. */
const limits = { attackTimeout: null, incubationTimeout: null, timeout: null, maxIteration: 3 }

/** The parts of a literal, such as `/a+/g`; `plain` has an `x` for each escape and each class. */
const partsOf = (literal: string) => {
  const end = literal.lastIndexOf("/")
  const source = literal.slice(1, end)
  const plain = source.replace(/\\.|\[(?:\\.|[^\]])*\]/gs, "x")
  return { source, flags: literal.slice(end + 1), plain }
}

const repetition = /[*+]|\{\d+,\}/g

/** Whether a group is repeated. Without that, the time can grow with a power of the text, but not exponentially. */
const repeatsGroup = (plain: string) => /\)(?:[*+]|\{\d)/.test(plain)

/** Whether it is linear without a doubt: it repeats nothing, or it begins at the start and repeats one character. */
const isLinear = ({ flags, plain, source }: ReturnType<typeof partsOf>): boolean => {
  const repetitions = plain.match(repetition)?.length ?? 0
  if (repetitions !== 1) return repetitions === 0
  let top = plain
  while (/\([^()]*\)/.test(top)) top = top.replace(/\([^()]*\)/g, "x")
  const isAnchored = top.startsWith("^") && !top.includes("|") && !flags.includes("m")
  return isAnchored && !repeatsGroup(plain) && !/\\[1-9k]/.test(source)
}

/** Judges a literal. */
const judge = (literal: string): string => {
  const parts = partsOf(literal)
  if (isLinear(parts)) return "safe"
  const verdict = checkSync(parts.source, parts.flags, limits)
  return verdict.status === "vulnerable" ? verdict.complexity.type : verdict.status
}

it("finds the expressions of programs, of the page's half and of the dashboard's page", () => {
  const places = new Set(found.map(({ file }) => file))
  for (const file of [
    "src/layers/documents/csvText.ts",
    "src/layers/client/request.ts",
    "src/layers/dashboard/page/parts.js"
  ]) {
    expect(places).toContain(file)
  }
})

it("each expression that the program composes has an example, and each example is needed", () => {
  const texts = found.filter(({ isComposed }) => isComposed).map(({ text }) => text)
  expect(new Set(texts)).toEqual(new Set(composed.keys()))
})

it("the time of each regular expression is in proportion to its text, or its text is short", async () => {
  const literals = new Set(found.map(({ text }) => String(composed.get(text) ?? text)))
  const allowed = new Set(short.map(({ expression }) => String(expression)))
  const slow: Array<{ readonly literal: string; readonly verdict: string }> = []
  for (const literal of literals) {
    if (allowed.has(literal)) continue
    const verdict = judge(literal)
    if (verdict !== "safe") slow.push({ literal, verdict })
    // The runner gives up a process that does not answer for a minute.
    await setImmediate()
  }
  expect(slow).toEqual([])
  expect(
    [...allowed].filter((literal) => !literals.has(literal) || repeatsGroup(partsOf(literal).plain))
  ).toEqual([])
  expect(short.filter(({ characters }) => characters > mostCharacters)).toEqual([])
}, 600_000)
