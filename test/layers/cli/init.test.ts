/**
 * `vitrine init` on full disks, and in folders that are not empty.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { transformSync } from "esbuild"
import { packageFile } from "../../../src/internal/packageFile.ts"
import { readTemplate } from "../../../src/layers/cli/init.ts"
import { says } from "../../support/says.ts"
import { mayMount, smallDisk } from "../../support/tmpfs.ts"

/** Makes a project in the folder; what is said of each file. */
const init = (...args: ReadonlyArray<string>) =>
  Effect.map(says("init", ...args), (said) => said.slice(0, -1))

const newFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Lets the writing of the file fail half-way. */
const withDiskFullAt = (name: string) =>
  Effect.updateService(FileSystem.FileSystem, (fs) => {
    const full = new PlatformError.SystemError({
      module: "FileSystem",
      method: "write",
      reason: "Unknown",
      cause: Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
    })
    return {
      ...fs,
      writeFileString: (path, content, options) =>
        path.endsWith(name)
          ? Effect.zipRight(fs.writeFileString(path, content.slice(0, content.length / 2), options), full)
          : fs.writeFileString(path, content, options)
    } satisfies FileSystem.FileSystem
  })

const made = [
  "content/Objects.csv",
  "content/Settings.csv",
  "content/pictures/barometer.svg",
  "content/pictures/fog-bell.svg",
  "content/pictures/tide.svg",
  ".gitignore",
  "tsconfig.json",
  "vitrine.config.ts"
]
const asMade = (name: string) => `made   ${name}`
const asKept = (name: string) => `kept   ${name}, which was there already`

const scenario = (
  title: string,
  test: Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>,
  { skip = false } = {}
) => it.scoped.skipIf(skip)(title, () => Effect.provide(test, NodeContext.layer))

describe("vitrine init, where a file cannot be written", () => {
  scenario(
    "leaves no unfinished file, and creates it the next time",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* newFolder
      const failure = yield* Effect.flip(withDiskFullAt("Settings.csv")(init(folder)))
      expect(failure).toMatchObject({
        _tag: "vitrine/CliError",
        message: expect.stringMatching(
          /Settings\.csv could not be made: the disk is full, or has no inode left for another file\.$/
        )
      })
      expect(yield* fs.readDirectory(`${folder}/content`)).toEqual(["Objects.csv"])
      expect(yield* init(folder)).toEqual([asKept("content/Objects.csv"), ...made.slice(1).map(asMade)])
    })
  )

  scenario(
    "does not wait for a pipe that has the name of a file (skipped on Windows)",
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* Effect.sync(() => execFileSync("mkfifo", [`${folder}/.gitignore`]))
      expect(yield* init(folder)).toContainEqual(
        expect.stringMatching(/^kept {3}\.gitignore, .*; add to it: /)
      )
    }),
    { skip: process.platform === "win32" }
  )

  scenario(
    "never changes an existing file",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* newFolder
      yield* fs.writeFileString(`${folder}/vitrine.config.ts`, "mine")
      yield* withDiskFullAt("vitrine.config.ts")(init(folder))
      expect(yield* fs.readFileString(`${folder}/vitrine.config.ts`)).toBe("mine")
    })
  )

  scenario(
    "leaves no empty file on a full disk (skipped if this user may not mount one)",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const disk = yield* smallDisk
      yield* disk.fill(1)
      const failure = yield* Effect.flip(init(disk.folder))
      expect(failure).toMatchObject({ message: expect.stringContaining("the disk is full, ") })
      const files = yield* fs.readDirectory(disk.folder, { recursive: true })
      for (const file of files.filter((name) => made.includes(name))) {
        expect(Number((yield* fs.stat(`${disk.folder}/${file}`)).size)).toBeGreaterThan(0)
      }
      yield* disk.free
      yield* init(disk.folder)
      expect(yield* fs.readFileString(`${disk.folder}/content/Objects.csv`)).toContain("Fog Bell")
    }),
    { skip: !mayMount }
  )
})

describe("vitrine init --page, beside a configuration", () => {
  scenario(
    "explains what the configuration needs to serve the page",
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* init(folder)
      const ofConfiguration = (...args: ReadonlyArray<string>) =>
        Effect.map(init(...args), (said) => said.find((line) => line.includes("vitrine.config.ts")))
      expect(yield* ofConfiguration(folder, "--page")).toBe(
        `${asKept("vitrine.config.ts")}; add to it: contentServer({ port: 8730, site: "page" })`
      )
      expect(yield* ofConfiguration(folder)).toBe(asKept("vitrine.config.ts"))
      const other = yield* newFolder
      yield* init(other, "--page")
      expect(yield* ofConfiguration(other, "--page")).toBe(asKept("vitrine.config.ts"))
    })
  )
})

describe("vitrine init --vite", () => {
  scenario(
    "serves the build of the page as a source of the content, and explains that beside a configuration",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* newFolder
      yield* init(folder, "--vite")
      const configuration = yield* fs.readFileString(`${folder}/vitrine.config.ts`)
      const other = yield* newFolder
      yield* init(other)
      const said = yield* init(other, "--vite")
      const [, advice = ""] =
        /^kept {3}vitrine.config.ts, which was there already; add to it: (.*)$/m.exec(said.join("\n")) ?? []
      expect(advice).toBe(
        'folderSource({ id: "page", directory: "dist", documents: false }), contentServer({ port: 8730, site: { source: "page" } })'
      )
      for (const part of advice.split(/(?<=\)), /)) {
        expect(configuration).toContain(part)
      }
    })
  )
})

describe("the page of vitrine init", () => {
  /** Without its types and imports. */
  const script = (text = "") =>
    transformSync(text.replace(/^(import |\/\/\/).*\n/gm, ""), { loader: "ts" }).code

  it("draws the same with Vite and without", () => {
    const withVite = script(readTemplate("vite")["src/main.ts"])
    expect(withVite).toContain("page.subscribe(")
    expect(script(readTemplate("page")["page/main.js"])).toBe(withVite)
  })

  it("does the same in all projects", () => {
    const withoutImports = (text = "") => text.slice(text.indexOf("/** Has the objects"))
    const exhibit = withoutImports(readTemplate("page")["page/exhibit.js"])
    expect(exhibit).toContain("connect({")
    for (const kind of ["vite", "react"] as const) {
      expect(withoutImports(readTemplate(kind)["src/exhibit.js"])).toBe(exhibit)
    }
  })

  it("has the same style in all projects", () => {
    const style = readTemplate("page")["page/style.css"]
    expect(style).toContain("article")
    for (const kind of ["vite", "react"] as const) {
      expect(readTemplate(kind)["src/style.css"]).toContain(style)
    }
  })
})

describe("vitrine init, beside a .gitignore", () => {
  const said = (existing: string) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* newFolder
      yield* fs.writeFileString(`${folder}/.gitignore`, existing)
      const lines = yield* init(folder)
      expect(yield* fs.readFileString(`${folder}/.gitignore`)).toBe(existing)
      return lines.find((line) => line.includes(".gitignore"))
    })

  it.scoped.each([
    ["node_modules\n*.log\n/.vitrine/  \r\n", "; add to it: downloads/, .env"],
    ["", "; add to it: node_modules/, downloads/, .vitrine/, .env"],
    // Only files are to be ignored, or only folders.
    ["node_modules\ndownloads\n.vitrine\n.env/\n", "; add to it: .env"],
    [
      "node_modules/\nmy-downloads/\n.vitrine/old\n# .env\n.env.local\n",
      "; add to it: downloads/, .vitrine/, .env"
    ],
    ["/.env\r\n.vitrine\r\n/downloads\r\n/node_modules/", ""]
  ] as const)("of %j prints what to add, and does not change it", ([existing, advice]) =>
    Effect.gen(function* () {
      expect(yield* said(existing)).toBe(`${asKept(".gitignore")}${advice}`)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})

describe("the templates", () => {
  it.each(["project", "page", "vite"])(
    "%s expects every column of its table, and half of the records",
    (name) => {
      const text = (file: string) => readFileSync(packageFile(`templates/${file}`), "utf8")
      const config = text(`${name}/vitrine.config.ts`)
      const [header = ""] = text("project/content/Objects.csv").split("\n")
      const keys = text("project/content/Settings.csv").match(/^\w+/gm) ?? []
      const columns = [...header.split(","), ...keys.slice(1)].filter((column) => column !== "id")
      expect(columns.filter((column) => !new RegExp(`\\b${column}: "`).test(config))).toEqual([])
      expect(config).toContain("maxVanishing: 0.5")
    }
  )
})
