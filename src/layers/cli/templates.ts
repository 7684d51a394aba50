/**
 * The files of new projects, from the folder `templates` of the package.
 */
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"

/** Found by the name of the package, because the source and the bundle are in different folders. */
const templates = join(dirname(createRequire(import.meta.url).resolve("vitrine/package.json")), "templates")

export type Kind = "project" | "page" | "vite" | "react"

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
