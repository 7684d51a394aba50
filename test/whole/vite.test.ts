/**
 * The dev server of Vite with the plugin, in a real browser: pages as its templates make them, edited while they are open.
 */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import react from "@vitejs/plugin-react"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { inBrowser, openTab } from "../support/browser.ts"
import { compile } from "../support/compile.ts"
import { repository } from "../support/documents.ts"
import { freePort } from "../support/freePort.ts"
import { isMissing } from "../support/programs.ts"
import { makeReader } from "../support/reader.ts"
import { evaluate, makeStageWith, waitFor } from "../support/stage.ts"
import { makeViteProject, savedAgain, startVite } from "../support/vite.ts"
import { html, ofOneConnection, openTemplate, polls, pollsTake, templates } from "../support/viteTemplates.ts"
import { eventually } from "../support/waiting.ts"

/** As people write them: of what a row has, of rows that are declared, of any document, and one that is copied from the docs. */
const steps = `steps: [
  (rows, { name }) => (name === "Objects" ? rows.map((row) => ({ ...row, title: row.title.trim() })) : rows),
  (rows: ReadonlyArray<{ readonly title: string }>, { name }) =>
    name === "Objects" ? rows.filter(({ title }) => title !== "") : rows,
  async (document: unknown) => document,
  markdown("body")
],`

describe.skipIf(isMissing("chromium"))("a page in the dev server of Vite", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each(Object.entries(templates))(
      "of %s shows content, and closes the connections of edited modules",
      ([, template]) =>
        Effect.gen(function* () {
          const { edit, promote, servers, shows, tab, wasNeverReloaded } = yield* openTemplate(template)
          yield* promote(2)
          yield* shows(2, 0)
          for (const number of [1, 2, 3, 4]) {
            yield* Effect.raceFirst(shows(2, number), savedAgain(edit(number)))
          }
          yield* servers.clientsBecome(1)
          expect(yield* pollsTake(tab, polls)).toBeGreaterThan(ofOneConnection)
          yield* promote(3)
          yield* shows(3, 4)
          yield* wasNeverReloaded
        })
    )

    it.scoped.each([
      ["--vite", []],
      ["--react", [react()]]
    ] as const)(
      "of vitrine init %s shows the content of its controller, with correct types",
      ([option, plugins]) =>
        Effect.gen(function* () {
          const reader = yield* makeReader
          mkdirSync(join(reader.folder, "node_modules/@types"))
          for (const name of [
            "react",
            "react-dom",
            "entities",
            "marked",
            "sanitize-html",
            "@types/node",
            "@types/sanitize-html"
          ]) {
            symlinkSync(join(repository, "node_modules", name), join(reader.folder, "node_modules", name))
          }
          expect(yield* reader.run(`npx vitrine init ${option}`)).toMatchObject({ status: 0 })
          yield* reader.useFreePorts("vitrine.config.ts")
          for (const name of ["html", "markdown", "wordpress"]) {
            copyFileSync(`${repository}/scratchpad/recipes/${name}.ts`, `${reader.folder}/${name}.ts`)
          }
          const configured = readFileSync(`${reader.folder}/vitrine.config.ts`, "utf8")
          writeFileSync(
            `${reader.folder}/vitrine.config.ts`,
            `import { markdown } from "./markdown.ts"\n${configured.replace('directory: "content",', `directory: "content", ${steps}`)}`
          )
          const types = readFileSync(`${reader.folder}/vitrine.d.ts`, "utf8")
          const text = readFileSync(`${reader.folder}/vitrine.config.ts`, "utf8")
          const content = `http://127.0.0.1:${/contentServer\(\{ port: (\d+),/.exec(text)?.[1]}`
          // React has no types here.
          expect(option === "--vite" ? compile(reader.folder) : "").toBe("")
          const { log, url } = yield* startVite(reader.folder, { content, plugins })
          const tab = yield* openTab(url)
          const isShown = (title: string) =>
            waitFor(
              tab,
              `document.querySelector("h2")?.textContent === "${title}" && document.images.length === 4`
            )
          yield* isShown("The Penrice Fog Bell")
          yield* evaluate(tab, 'document.querySelectorAll("nav button")[2].click()')
          yield* isShown("A Bottle of Spring Tide")
          yield* eventually(
            Effect.sync(() => readFileSync(`${reader.folder}/vitrine.d.ts`, "utf8") === types)
          )
          expect(
            log.filter((line) =>
              /error|warn|missing|not there|no build|fetch first|nothing answers|has ended/i.test(line)
            )
          ).toEqual([])
        })
    )

    it.scoped("has an overlay with rejected content until content is accepted again, without a reload", () =>
      Effect.gen(function* () {
        const { content, folder } = yield* makeProject
        const give = (number: number | string) =>
          Effect.sync(() => writeFileSync(`${folder}/content/Objects.csv`, `id,number\nrec1,${number}\n`))
        const edit = (edit: number) =>
          Effect.sync(() =>
            writeFileSync(
              `${folder}/src/main.ts`,
              `${templates["plain TypeScript that accepts its updates"]?.files["src/main.ts"]?.replace("edit 0", `edit ${edit}`)}`
            )
          )
        const shows = (tab: Page, number: number, edit: number) =>
          waitFor(tab, `document.querySelector("p")?.textContent === "number ${number}, edit ${edit}"`)
        const overlays = 'document.querySelectorAll("vite-error-overlay")'
        const overlayHas = (tab: Page, field: string) =>
          waitFor(
            tab,
            `${overlays}.length === 1 && ${overlays}[0].shadowRoot.textContent.includes(${JSON.stringify(field)})`
          )
        const hasNone = (tab: Page) => waitFor(tab, `${overlays}.length === 0`)

        mkdirSync(`${folder}/src`)
        yield* edit(0)
        yield* give("many")
        const { url } = yield* startVite(folder, { content, types: false })
        const tab = yield* openTab(url)
        yield* overlayHas(
          tab,
          'source "exhibits" is rejected, and the screens keep the content they have.\nObjects.csv, row 2 (rec1), "number": expected a number, found "many".'
        )
        yield* evaluate(tab, "window.mark = true")
        yield* give(1)
        yield* shows(tab, 1, 0)
        yield* hasNone(tab)

        yield* give("none")
        yield* overlayHas(tab, 'found "none"')
        const later = yield* openTab(url)
        yield* overlayHas(later, 'found "none"')
        yield* Effect.raceFirst(shows(tab, 1, 1), savedAgain(edit(1)))
        yield* overlayHas(tab, 'found "none"')

        const file = `${folder}/vitrine.config.mjs`
        writeFileSync(file, readFileSync(file, "utf8").replace('"number"', '"date"'))
        yield* overlayHas(tab, "expected a date")
        yield* give("2026-11-21")
        yield* Effect.forEach([tab, later], hasNone)
        expect(yield* evaluate(tab, "window.mark")).toBe(true)
      })
    )
  })
})

/** A project with a controller on free ports, whose `dev` is a process of Vite. */
const makeProject = Effect.gen(function* () {
  const port = yield* freePort
  const content = `http://127.0.0.1:${port}`
  const folder = yield* makeViteProject({
    "index.html": html("main.ts"),
    "content/Objects.csv": "id,number\nrec1,1\n",
    "vitrine.config.mjs": `import { content, contentServer, defineConfig, folderSource, httpTransport } from "vitrine"
export default defineConfig({
  plugins: [
    content({
      sources: [
        folderSource({
          id: process.env.SOURCE ?? "exhibits",
          directory: "content",
          expect: { Objects: { fields: { number: "number" } } }
        })
      ]
    }),
    httpTransport({ port: 0 }),
    contentServer({ port: ${port}, site: "dist" })
  ]
})
`,
    "vite.config.mjs": `import { vitrine } from ${JSON.stringify(join(repository, "dist/vite.js"))}
export default { cacheDir: ".vite", plugins: [vitrine({ content: "${content}" })], server: { port: 0, host: "127.0.0.1" } }
`
  })
  const answers = Effect.promise(() =>
    fetch(`${content}/manifest.json`).then(
      ({ ok }) => ok,
      () => false
    )
  )
  return { answers, content, folder }
})

layer(NodeContext.layer, { excludeTestServices: true, timeout: 60_000 })("the dev server of Vite", (it) => {
  it.scoped("starts the controller of the project, and stops it when it is closed", () =>
    Effect.gen(function* () {
      const { answers, content, folder } = yield* makeProject
      const { log, server } = yield* startVite(folder, { content })
      yield* eventually(answers)
      expect(log.join("\n")).toMatch(/^\[vitrine\] .*Starting with /m)
      const types = Effect.sync(() => existsSync(`${folder}/vitrine.d.ts`))
      yield* eventually(types)
      yield* Effect.promise(() => server.restart())
      yield* eventually(answers)
      yield* Effect.promise(() => server.close())
      expect(yield* answers).toBe(false)
      expect(log.filter((line) => line.includes("has ended"))).toEqual([])
    })
  )

  it.scoped.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
    "leaves no controller behind when it ends by %s",
    (signal) =>
      Effect.gen(function* () {
        const { answers, folder } = yield* makeProject
        const vite = yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn(process.execPath, [join(repository, "node_modules/vite/bin/vite.js")], {
              cwd: folder,
              stdio: "ignore"
            })
          ),
          (vite) => Effect.sync(() => vite.kill("SIGKILL"))
        )
        yield* eventually(answers)
        const ended = once(vite, "exit")
        vite.kill(signal)
        yield* Effect.promise(() => ended)
        yield* eventually(Effect.map(answers, (answers) => !answers))
      })
  )

  it.scoped(
    "reports once that the controller has ended, and restarts it when its configuration is edited",
    () =>
      Effect.gen(function* () {
        const { answers, content, folder } = yield* makeProject
        const file = `${folder}/vitrine.config.mjs`
        const configuration = readFileSync(file, "utf8")
        writeFileSync(file, "nonsense")
        const { log } = yield* startVite(folder, { content, types: false })
        const saidEnded = () => log.filter((line) => line.includes("has ended"))
        yield* eventually(Effect.sync(() => saidEnded().length > 0))
        expect(saidEnded()).toEqual(["[vitrine] vitrine start has ended (status 1)."])
        const save = Effect.sync(() => writeFileSync(file, configuration))
        yield* Effect.raceFirst(eventually(answers), savedAgain(save))
        const starts = () => log.filter((line) => line.includes("Starting with ")).length
        const before = starts()
        yield* Effect.raceFirst(eventually(Effect.sync(() => starts() > before)), savedAgain(save))
        yield* eventually(answers)
        expect(saidEnded()).toHaveLength(1)
      })
  )

  it.scoped("passes the variables of Vite's environment files to the controller, also after an edit", () =>
    Effect.gen(function* () {
      const { content, folder } = yield* makeProject
      const sourceIs = (id: string) =>
        eventually(
          Effect.promise(() =>
            fetch(`${content}/manifest.json`).then(
              async (response) => (await response.text()).includes(`"sourceId": "${id}"`),
              () => false
            )
          )
        )
      const set = (name: string, id: string) =>
        Effect.sync(() => writeFileSync(`${folder}/${name}`, `SOURCE=${id}\n`))
      yield* set(".env", "first")
      yield* startVite(folder, { content, types: false })
      yield* sourceIs("first")
      yield* Effect.raceFirst(sourceIs("second"), savedAgain(set(".env", "second")))
      yield* Effect.raceFirst(sourceIs("local"), savedAgain(set(".env.development", "local")))
    })
  )

  it.scoped("uses a running controller, with a message", () =>
    Effect.gen(function* () {
      const { folder } = yield* makeProject
      const { url } = yield* (yield* makeStageWith("")).start()
      const { log } = yield* startVite(folder, { content: url, types: false })
      const said = Effect.sync(() => log.filter((line) => line.includes("[vitrine]")))
      yield* eventually(Effect.map(said, (lines) => lines.length > 0))
      expect(yield* said).toEqual([
        `[vitrine] Shows the content of the controller at ${url}, which runs already.`
      ])
    })
  )

  it.scoped("reports where it has looked for a configuration", () =>
    Effect.gen(function* () {
      const folder = yield* makeViteProject({ "index.html": html("main.ts") })
      const { log } = yield* startVite(folder, { content: `http://127.0.0.1:${yield* freePort}` })
      const text = `there is no vitrine.config.ts in ${folder} or ${process.cwd()}`
      yield* eventually(Effect.sync(() => log.some((line) => line.includes(text))))
    })
  )
})
