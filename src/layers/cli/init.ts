/**
 * `vitrine init`
 */
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { makePath } from "../../files/durable.ts"
import { readPlainText } from "../../files/readPlainText.ts"
import { explain, remove } from "../../files/systemError.ts"
import { packageFile } from "../../internal/packageFile.ts"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"

/** Returns whether the file was made. An existing file is not changed. */
const make = Effect.fnUntraced(
  function* (file: string, content: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* makePath(path.dirname(file))
    return yield* fs.writeFileString(file, content, { flag: "wx" }).pipe(
      Effect.as(true),
      Effect.catchIf(isAlreadyThere, () => Effect.succeed(false)),
      // The next run would keep an incomplete file as an existing one.
      Effect.tapError(() => Effect.ignore(remove(file))),
      Effect.uninterruptible
    )
  },
  (effect, file) =>
    Effect.mapError(
      effect,
      (error) => new CliError({ message: `${file} could not be made: ${explain(error)}` })
    )
)

const isAlreadyThere = (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "AlreadyExists"

/** A pattern without the slash at its end ignores more; a pattern with a slash at its start ignores the same in this folder. */
const missingPatterns = (existing: string, wanted: string): ReadonlyArray<string> => {
  const there = new Set(existing.split("\n").map((line) => line.trimEnd().replace(/^\//, "")))
  return wanted
    .trimEnd()
    .split("\n")
    .filter((pattern) => !there.has(pattern) && !there.has(pattern.replace(/\/$/, "")))
}

const missingServer = (existing: string, wanted: string): ReadonlyArray<string> =>
  existing.includes("contentServer(") ? [] : (wanted.match(/(folderSource|contentServer)\(\{.*\}\)/g) ?? [])

/** Finds missing parts of existing files: without them no page is served, or the token gets into a repository. */
const missingFrom: Readonly<Record<string, typeof missingPatterns>> = {
  "vitrine.config.ts": missingServer,
  ".gitignore": missingPatterns
}

/** Advice for an existing file. */
const advice = Effect.fnUntraced(function* (file: string, content: string) {
  const path = yield* Path.Path
  const existing = yield* Effect.orElseSucceed(readPlainText(file), () => "")
  const missing = missingFrom[path.basename(file)]?.(existing, content) ?? []
  return missing.length === 0 ? "" : `; add to it: ${missing.join(", ")}`
})

const start = `
Next:
  npx vitrine start      fetch the content and report new versions; end with Ctrl-C`

const nextSteps = `${start}
  curl -N http://127.0.0.1:8710/events
                         watch the events, and change a cell in content/Objects.csv
  npx vitrine --help     everything else`

const nextStepsWithPage = `${start}
                         look at http://127.0.0.1:8730, and change a cell in content/Objects.csv
  npx vitrine --help     everything else`

/** npm creates a missing `package.json`. */
const nextStepsWithVite = (packages: string) => `
Next:
  npm install --save-dev ${packages}
  npm pkg set type=module scripts.dev=vite "scripts.build=tsc && vite build"
  npm run dev            look at the address that it says, and change a cell in content/Objects.csv, or the page in src
  npm run build          then "npx vitrine start" has the page on http://127.0.0.1:8730`

/** The next steps. */
const stepsOf: Readonly<Record<Kind, string>> = {
  project: nextSteps,
  page: nextStepsWithPage,
  vite: nextStepsWithVite("vite typescript @types/node"),
  react: nextStepsWithVite(
    "vite typescript react react-dom @vitejs/plugin-react @types/node @types/react @types/react-dom"
  )
}

export const run = ({ page = false, react = false, vite = false }: Options, folder = ".") =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const kind = react ? "react" : vite ? "vite" : page ? "page" : "project"
    const lines = yield* Effect.forEach(Object.entries(readTemplate(kind)), ([name, content]) =>
      Effect.gen(function* () {
        const file = path.join(folder, ...name.split("/"))
        return (yield* make(file, content))
          ? `made   ${name}`
          : `kept   ${name}, which was there already${yield* advice(file, content)}`
      })
    )
    // Printed after all files are made, because the command ends if nobody reads its output.
    yield* Effect.forEach([...lines, stepsOf[kind]], (line) => Console.log(line), { discard: true })
  })

const templates = packageFile("templates")

type Kind = "project" | "page" | "vite" | "react"

/** The folders with the files of each kind. A file replaces a file with the same name from an earlier folder. */
const foldersOf: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  project: ["project"],
  page: ["project", "page"],
  vite: ["project", "vite", "plain"],
  react: ["project", "vite", "react"]
}

/** The content of the files by their paths, with forward slashes. */
export const readTemplate = (kind: Kind): Readonly<Record<string, string>> =>
  Object.fromEntries(
    foldersOf[kind].flatMap((folder) =>
      filesIn(join(templates, folder)).map((file) => [
        // npm does not pack a file named `.gitignore`.
        file === "gitignore" ? ".gitignore" : file,
        filled(readFileSync(join(templates, folder, file), "utf8"))
      ])
    )
  )

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/")
    )
    .sort()

/** Replaces a line `{{style.css}}` with the file in `parts`, with the same indent. */
const filled = (text: string): string =>
  text.replace(/^( *)\{\{([\w.]+)\}\}\n/gm, (_, indent: string, name: string) =>
    readFileSync(join(templates, "parts", basename(name)), "utf8").replace(/^(?=.)/gm, indent)
  )
