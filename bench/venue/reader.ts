/**
 * A screen that reads all files of the active version, again and again without a pause.
 */
import { readdirSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { answer } from "../processes.ts"
import { editionOf } from "./content.ts"
import type { Kind, ReaderApi } from "./protocol.ts"

const folderOf: Readonly<Record<Kind, (folder: string) => string>> = {
  versions: (folder) =>
    join(folder, JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")).versionPath, "exhibit"),
  folder: (folder) => folder,
  link: (folder) => realpathSync(join(folder, "current"))
}

let reading = { passes: 0, mixed: 0, failed: 0 }
const seen = new Set<number>()
let next: NodeJS.Immediate | undefined

answer<ReaderApi>({
  start: ({ folder, kind }) => {
    const pass = () => {
      let { failed, mixed, passes } = reading
      passes++
      try {
        const shown = folderOf[kind](folder)
        // Files that a program is still writing have names that begin with a dot.
        const names = readdirSync(shown).filter((name) => !name.startsWith("."))
        const editions = new Set(names.map((name) => editionOf(join(shown, name))))
        mixed += editions.size === 1 ? 0 : 1
        for (const edition of editions) {
          seen.add(edition)
        }
      } catch {
        failed++
      }
      reading = { passes, mixed, failed }
      next = setImmediate(pass)
    }
    pass()
  },
  stop: () => {
    clearImmediate(next)
    return { ...reading, editions: seen.size }
  }
})
