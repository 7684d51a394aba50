/**
 * The commands and programs of the documentation, run as a reader would run them: every line of every page, in order.
 */
import { existsSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Browser, openTab } from "../support/browser.ts"
import { allSamples, pages, placeOf, read, repository, type Sample, samplesOf } from "../support/documents.ts"
import { isMissing } from "../support/programs.ts"
import { makeReader, type Reader } from "../support/reader.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"
import { eventually } from "../support/waiting.ts"

/** What is typed, and what is shown of it. */
interface Typed {
  readonly line: string
  readonly shown: string
}

const typedIn = ({ language, text }: Sample): ReadonlyArray<Typed> =>
  language === "console"
    ? text
        .split(/^\$ /m)
        .slice(1)
        .map((part) => {
          const [line = "", ...shown] = part.split("\n")
          return { line, shown: shown.join("\n").trimEnd() }
        })
    : text.split("\n").map((line) => ({ line: line.replace(/ +# .*$/, ""), shown: "" }))

/** What may differ from run to run: times, and what is left out as "…". */
const patternOf = (shown: string) =>
  shown
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\d{4}-\d\d-\d\dT[\d:]+\\\.\d{3}Z/g, "[\\d:.TZ-]+")
    .replace(/\d{8}T\d{6}Z/g, "\\d{8}T\\d{6}Z(?:-\\d\\d)?")
    .replaceAll("…", ".*")

const scripts: Readonly<Record<string, string>> = JSON.parse(read("package.json")).scripts

/** Work on the repository itself, which other tests do: what is named has to be there. */
const isOfRepository = (line: string) => {
  if (!/^(\w+=\S+ )?(npm|cd|npx vitest|node dist\/bin.cjs) /.test(line)) return false
  const named = [...line.matchAll(/npm (?:run (\S+)|(start|test))/g)].map(([, a, b]) => a ?? b ?? "")
  const paths = line.match(/(?<= )(test|docs|src|scratchpad)\/\S*/g) ?? []
  expect(named.filter((name) => !(name in scripts))).toEqual([])
  expect(paths.filter((path) => !existsSync(`${repository}/${path}`))).toEqual([])
  return true
}

/** Runs one line, and holds what comes of it against what is shown. */
const type = (reader: Reader, { line, shown }: Typed) =>
  Effect.gen(function* () {
    if (isOfRepository(line)) {
      return
    }
    if (/^npx vitrine start(?!.*--detach)/.test(line)) {
      yield* reader.keepRunning(line, /New version/)
    } else if (line.startsWith("curl -N")) {
      yield* reader.watch(line, new RegExp(`^${patternOf(shown)}`))
    } else if (/^(npx vitrine|curl|cp) /.test(line)) {
      if (/--detach/.test(line)) {
        yield* reader.interrupt
      }
      const { output, status } = yield* reader.run(line)
      expect({ output, status }).toMatchObject({ status: 0 })
      expect(output).toMatch(new RegExp(shown === "" ? "" : `^${patternOf(shown)}$`))
      if (line.startsWith("npx vitrine init")) {
        yield* reader.useFreePorts("vitrine.config.ts")
      }
    } else {
      expect.fail(`Nobody knows how to run this: ${line}`)
    }
  })

/** Runs a program for a page or for Node, which acknowledges or shows the active version. */
const runScript = (reader: Reader, { text }: Sample) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const ack = `${reader.folder}/downloads/acks/screen-1.json`
    yield* fs.remove(ack, { force: true })
    if (text.includes('from "node:')) {
      yield* fs.writeFileString(`${reader.folder}/sample.mjs`, text)
      const { output, status } = yield* reader.run("node sample.mjs")
      // A runner of tests reports what it has run.
      expect({ output: text.includes('"node:test"') ? "" : output, status }).toEqual({
        output: "",
        status: 0
      })
    } else {
      const tab = yield* openTab(yield* reader.servePage(text))
      if (!text.includes('"vitrine/client"')) {
        yield* Effect.promise(() => tab.waitForSelector("html[data-shown*=versions]"))
      }
    }
    if (text.includes("screen-1")) {
      const { versionId } = JSON.parse(yield* fs.readFileString(`${reader.folder}/downloads/manifest.json`))
      const isAcknowledged = fs.readFileString(ack).pipe(
        Effect.map((text) => JSON.parse(text).versionId === versionId),
        Effect.orElseSucceed(() => false)
      )
      yield* eventually(isAcknowledged)
    }
  })

/** What programs of the documentation read. */
const tables = {
  "Objects.csv":
    "inventory,title,year\nVM-1931-04,The Penrice Fog Bell,1862\nVM-1919-01,The Sulking Barometer,1798\n",
  "Settings.csv": "key,value\ntitle,Kept\nslideSeconds,16\n"
}

/** One pixel. */
const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

const needsProject = (line: string) => line.startsWith("npx vitrine ")

/** What sets up a server of another maker, or a whole machine. */
const isSetUp = ({ info }: Sample) => ["machine", "server"].includes(info)

const isRun = (sample: Sample) => ["console", "js", "sh"].includes(sample.language) && !isSetUp(sample)

const environment = Layer.provideMerge(Browser.layer, NodeContext.layer)

describe.skipIf(isMissing("chromium") || isMissing("curl"))("a reader", () => {
  layer(environment, { excludeTestServices: true, timeout: 60_000 })((it) => {
    for (const page of pages.filter((page) => samplesOf(page).some(isRun))) {
      it.scoped(`can follow ${page} from its first line to its last`, () =>
        Effect.gen(function* () {
          const reader = yield* makeReader
          const samples = samplesOf(page).filter(isRun)
          const lines = samples.flatMap(typedIn).map(({ line }) => line)
          if (lines.some(needsProject) && !lines.some((line) => line.startsWith("npx vitrine init"))) {
            yield* type(reader, { line: "npx vitrine init", shown: "" })
          }
          for (const sample of samples) {
            yield* sample.language === "js"
              ? runScript(reader, sample)
              : Effect.forEach(typedIn(sample), (typed) => type(reader, typed))
          }
        })
      )
    }

    it.scoped("sees posts of WordPress on the page of init, with their titles and pictures", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const reader = yield* makeReader
        const post = (id: number, rendered: string, ...media: ReadonlyArray<object>) => ({
          id,
          title: { rendered },
          ...(media.length === 0 ? {} : { _embedded: { "wp:featuredmedia": media } })
        })
        const server = yield* ScriptedServer.make((response, request) => {
          if (request.url === "/bell.gif") {
            response.writeHead(200, { "content-type": "image/gif" }).end(Buffer.from(gif, "base64"))
            return
          }
          const posts = [
            post(1, "&#8220;No. 1&#8221; &amp; its <em>story</em>", { source_url: `${server.url}/bell.gif` }),
            post(2, "No picture"),
            post(3, "An error", { code: "rest_forbidden", data: { status: 401 } })
          ]
          ScriptedServer.json(200, posts, { "x-wp-total": "3" })(response, request)
        })
        yield* type(reader, { line: "npx vitrine init --page", shown: "" })
        const edit = (file: string, change: (text: string) => string) =>
          Effect.flatMap(fs.readFileString(`${reader.folder}/${file}`), (text) =>
            fs.writeFileString(`${reader.folder}/${file}`, change(text))
          )
        yield* type(reader, { line: "cp node_modules/vitrine/scratchpad/recipes/wordpress.ts .", shown: "" })
        yield* fs.symlink(`${repository}/node_modules/entities`, `${reader.folder}/node_modules/entities`)
        yield* edit("vitrine.config.ts", (text) =>
          text
            .replace("import", 'import { wordpress } from "./wordpress.ts"\nimport')
            .replace("sources: [", "sources: [wordpress, ")
        )
        yield* edit("page/exhibit.js", (text) =>
          text.replace('const source = "exhibits"', 'const source = "magazine"')
        )
        yield* reader.keepRunning(`env WORDPRESS=${server.url} npx vitrine start`, /New version/)
        const configuration = yield* fs.readFileString(`${reader.folder}/vitrine.config.ts`)
        const port = /contentServer\(\{ port: (\d+),/.exec(configuration)?.[1]
        const tab = yield* openTab(`http://127.0.0.1:${port}`)
        yield* Effect.promise(() => tab.waitForSelector("nav button"))
        const shown = `[...document.querySelectorAll("nav button")].map((button) => [
          button.querySelector(".name").textContent,
          button.getAttribute("aria-current"),
          button.querySelector("img")?.naturalWidth ?? 0
        ])`
        expect(yield* Effect.promise(() => tab.evaluate(shown))).toEqual([
          ["“No. 1” & its story", "true", 1],
          ["No picture", "false", 0],
          ["An error", "false", 0]
        ])
      })
    )

    const programs = allSamples.filter(({ info, language }) => language === "ts" && info === "run")
    for (const sample of programs) {
      it.scoped(`gets the output below the program at ${placeOf(sample)} from it`, () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const reader = yield* makeReader
          yield* fs.makeDirectory(`${reader.folder}/tables`)
          for (const [name, text] of Object.entries(tables)) {
            yield* fs.writeFileString(`${reader.folder}/tables/${name}`, text)
          }
          yield* fs.writeFileString(`${reader.folder}/sample.ts`, sample.text)
          const shown = samplesOf(sample.page).find(
            ({ info, line }) => info === "output" && line > sample.line
          )
          const { output, status } = yield* reader.run("npx jiti sample.ts")
          expect({ output, status }).toMatchObject({ status: 0 })
          expect(output.trimEnd()).toMatch(new RegExp(`^${patternOf(shown?.text ?? "")}$`))
        })
      )
    }
  })
})
