/**
 * The packed package on Node for Windows: what a technician does, and what other programs do to its files.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import sharp from "sharp"
import * as ScriptedServer from "../support/ScriptedServer.ts"
import { eventually, hold, makeProject } from "../support/windows.ts"

const objects = (...titles: ReadonlyArray<string>) =>
  `id,title,picture\n${titles.map((title) => `${title},${title},pictures/one.svg\n`).join("")}`

const picture = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg"><rect fill="${colour}" width="9" height="9"/></svg>`

const configuration = (plugins: string) =>
  `import { content, contentServer, defineConfig, folderSource, httpTransport, jsonSource, replica } from "vitrine"
export default defineConfig({ plugins: [${plugins}, httpTransport({ port: 0 }), contentServer({ port: 0 })] })
`

const folderContent = (sourceOptions = "", keepVersions = 3) =>
  `content({ fetchEvery: "5 seconds", keepVersions: ${keepVersions}, sources: [folderSource({
  id: "exhibits", directory: "content", expect: { Objects: { fields: { picture: "file" } } }, ${sourceOptions}
})] })`

/** Reads a file that may not exist yet. */
const orNothing = (read: () => string) => Option.getOrUndefined(Option.liftThrowable(read)())

/** The downloads of a project, as a screen reads them. */
const downloads = ({ read }: { readonly read: (name: string) => string }) => {
  const manifest = () => JSON.parse(read("downloads/manifest.json"))
  const active = (name: string) => read(`downloads/${manifest().versionPath}/${name}`)
  return {
    manifest,
    active,
    /** Waits until a file of the active version has the text. */
    shows: (text: string, name = "exhibits/Objects.json") =>
      eventually(
        `${text} in ${name}`,
        () => orNothing(() => active(name))?.includes(text) || undefined,
        () => read("downloads/manifest.json")
      )
  }
}

/** A project whose content is a folder, and its controller, which has fetched it. */
const startExhibit = Effect.fnUntraced(function* (plugin = folderContent(), name = "exhibit") {
  const project = yield* makeProject(name)
  yield* project.vitrine("init")
  project.write("content/Objects.csv", objects("Bell"))
  project.write("content/pictures/one.svg", picture("red"))
  project.write("vitrine.config.ts", configuration(plugin))
  const controller = yield* project.run("start")
  const versionId = yield* controller.said(/New version (\S+):/)
  return { ...project, ...downloads(project), controller, versionId }
})

const getText = (url: string) => Effect.promise(async () => (await fetch(url)).text())

describe("a technician", () => {
  it.scopedLive("starts a controller, edits, looks at the status, verifies, goes back, and stops it", () =>
    Effect.gen(function* () {
      const { active, controller, run, shows, versionId, vitrine, write } = yield* startExhibit()
      const url = yield* controller.said(/Content server on (http:\S+): /)
      expect(JSON.parse(yield* getText(`${url}/manifest.json`))).toMatchObject({ versionId })
      write("content/Objects.csv", objects("Bell", "Sextant"))
      yield* shows("Sextant")
      expect(yield* getText(`${url}/manifest.json`)).not.toContain(versionId)

      expect(yield* vitrine("status")).toMatch(/^OK\n/)
      yield* vitrine("verify")
      yield* vitrine("rollback")
      expect(active("exhibits/Objects.json")).not.toContain("Sextant")
      yield* vitrine("stop")
      expect(yield* controller.ended).toBe(0)
      yield* Effect.flatMap(run("status"), ({ said }) => said(/No controller is running here/))
    })
  )

  it.scopedLive("kills a controller, and the next one goes on from its version", () =>
    Effect.gen(function* () {
      const { controller, manifest, run, shows, versionId, write } = yield* startExhibit()
      yield* controller.kill
      yield* Effect.flatMap(run("status"), ({ said }) => said(/No controller is running here/))
      const next = yield* run("start")
      yield* next.said(new RegExp(`Active version (${versionId})`))
      write("content/Objects.csv", objects("Bell", "Sextant"))
      yield* next.said(/New version (\S+):/)
      yield* shows("Sextant")
      expect(manifest().versionId > versionId).toBe(true)
    })
  )

  it.scopedLive("writes types of the content", () =>
    Effect.gen(function* () {
      const { read, vitrine } = yield* startExhibit()
      yield* vitrine("types", "--output", ".\\page.d.ts")
      expect(read("page.d.ts")).toContain("title?: string")
    })
  )
})

describe("a folder", () => {
  const names = {
    "with umlauts, spaces and signs": "Köln – Müller & Söhne (100 %)",
    "whose path has 250 characters": "Ausstellung".padEnd(222, " und mehr")
  }
  for (const [kind, name] of Object.entries(names)) {
    it.scopedLive(`${kind} is the project's`, () =>
      Effect.gen(function* () {
        const { controller, shows, vitrine, write } = yield* startExhibit(folderContent(), name)
        write("content/Übersicht – neu.json", '{ "title": "Für später" }')
        yield* shows("Für später", "exhibits/Übersicht – neu.json")
        expect(yield* vitrine("status")).toMatch(/^OK\n/)
        yield* vitrine("stop")
        expect(yield* controller.ended).toBe(0)
      })
    )
  }

  it.scopedLive("gets no names that Windows keeps for devices, or cannot store", () =>
    Effect.gen(function* () {
      const { url } = yield* ScriptedServer.make((response, request) => {
        const isPicture = request.url.endsWith(".svg")
        response
          .writeHead(200, { "content-type": isPicture ? "image/svg+xml" : "application/json" })
          .end(isPicture ? picture("red") : JSON.stringify([{ id: "1", picture: `${url}/aux.svg` }]))
      })
      const files = { con: "%63on", "nul.txt": "%6Eul.txt", "what: now?": "what%3A now%3F" }
      const documents = JSON.stringify(Record.map(files, () => `${url}/list`))
      const project = yield* makeProject()
      project.write(
        "vitrine.config.ts",
        configuration(`content({ fetchEvery: "5 seconds", sources: [
  jsonSource({ id: "museum", documents: ${documents}, media: { find: ["**.picture"] } })
] })`)
      )
      const controller = yield* project.run("start")
      yield* controller.said(/New version (\S+):/)
      const { active } = downloads(project)
      for (const file of Object.values(files)) {
        expect(active(`museum/${file}.json`)).toMatch(/"localPath": ?"media\/aux-/)
      }
    })
  )
})

const players = Effect.gen(function* () {
  const hub = yield* startExhibit()
  const url = yield* hub.controller.said(/Content server on (http:\S+): /)
  const project = yield* makeProject("player")
  project.write("vitrine.config.ts", configuration(`replica({ from: "${url}", pollEvery: "1 second" })`))
  const controller = yield* project.run("start")
  expect(yield* controller.said(/New version (\S+):/)).toBe(hub.versionId)
  return { hub, player: { ...project, ...downloads(project), controller } }
})

it.scopedLive("a player has what its hub has, also after it was killed", () =>
  Effect.gen(function* () {
    const { hub, player } = yield* players
    hub.write("content/Objects.csv", objects("Bell", "Sextant"))
    yield* player.shows("Sextant")
    yield* player.controller.kill
    hub.write("content/pictures/one.svg", picture("blue"))
    yield* hub.shows("blue", "exhibits/pictures/one.svg")
    yield* player.run("start")
    yield* player.shows("blue", "exhibits/pictures/one.svg")
  })
)

it.scopedLive("smaller pictures are made of a photograph", () =>
  Effect.gen(function* () {
    const { controller, shows, write } = yield* startExhibit(
      folderContent('pictures: ["picture"], images: { widths: [64] }')
    )
    const photograph = sharp({ create: { width: 640, height: 480, channels: 3, background: "red" } })
    write("content/pictures/photo.jpg", yield* Effect.promise(() => photograph.jpeg().toBuffer()))
    write("content/Objects.csv", objects("Bell").replaceAll("one.svg", "photo.jpg"))
    yield* shows("-64.webp")
    expect(controller.output()).not.toContain("warn")
  })
)

describe.concurrent("what another program holds open", () => {
  for (const seconds of [2, 60]) {
    const long = seconds > 4
    const duration = `for ${seconds} seconds`

    it.scopedLive(`a CSV that is saved and held ${duration} is fetched when it is free`, () =>
      Effect.gen(function* () {
        const { active, controller, folder, shows } = yield* startExhibit()
        const { released } = yield* hold(`${folder}/content/Objects.csv`, seconds, objects("Sextant"))
        if (long) yield* controller.said(/Objects\.csv: .*another program has it open/)
        expect(active("exhibits/Objects.json")).toContain("Bell")
        yield* released
        yield* shows("Sextant")
      })
    )

    it.scopedLive(`a picture that is saved and held ${duration} is fetched when it is free`, () =>
      Effect.gen(function* () {
        const { active, controller, folder, shows } = yield* startExhibit()
        const { released } = yield* hold(`${folder}/content/pictures/one.svg`, seconds, picture("blue"))
        if (long) yield* controller.said(/one\.svg: .*another program has it open/)
        expect(active("exhibits/pictures/one.svg")).toContain("red")
        yield* released
        yield* shows("blue", "exhibits/pictures/one.svg")
      })
    )

    it.scopedLive(`a manifest that is held ${duration} is replaced when it is free`, () =>
      Effect.gen(function* () {
        const { active, controller, folder, shows, write } = yield* startExhibit()
        const { released } = yield* hold(`${folder}/downloads/manifest.json`, seconds)
        write("content/Objects.csv", objects("Sextant"))
        if (long) yield* controller.said(/manifest\.json.*another program has it open/)
        expect(active("exhibits/Objects.json")).toContain("Bell")
        yield* released
        yield* shows("Sextant")
      })
    )

    it.scopedLive(`an old version of which a file is held ${duration} goes with one after it`, () =>
      Effect.gen(function* () {
        const project = yield* startExhibit(folderContent("", 1))
        const { folder, list, manifest, shows, versionId, write } = project
        const { released } = yield* hold(
          `${folder}/downloads/versions/${versionId}/exhibits/Objects.json`,
          seconds
        )
        write("content/Objects.csv", objects("Sextant"))
        yield* shows("Sextant")
        yield* released
        write("content/Objects.csv", objects("Barometer"))
        yield* shows("Barometer")
        const left = () => [...list("downloads/versions"), ...list("downloads/.staging")]
        yield* eventually(
          "one version alone",
          () => left().length === 1 || undefined,
          () => left().join(" ")
        )
        expect(left()).toEqual([manifest().versionId])
      })
    )
  }
})
