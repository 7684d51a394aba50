import { rename } from "node:fs/promises"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { inBrowser, openTab } from "../support/browser.ts"
import { writeFile } from "../support/contentServer.ts"
import { samplesOf } from "../support/documents.ts"
import { isMissing } from "../support/programs.ts"
import { makeStageWith, waitFor } from "../support/stage.ts"
import { eventually } from "../support/waiting.ts"

const never = 3_600_000

/** A page that comes without delay. */
const pageOf = (script: string) => `<!doctype html>
<title>Page</title>
<video></video>
<script>Math.random = () => 0</script>
<script type="module">
${script.replace('"vitrine/client"', '"/vitrine/client.js"')}
</script>
`

/** It says which build it is by the name of its screen. */
const build = (number: number, options: string) =>
  pageOf(`import { connect } from "vitrine/client"
connect({ consumerId: "build-${number}", pollEvery: ${never}, ${options} })`)

const works = "load: (version) => version.table('exhibits', 'Objects')"
const fails = "load: () => { throw new Error('It does not work') }"

/** A page that is open, and a new build of it. */
const makeOpened = Effect.fnUntraced(function* (first: string) {
  const { acks, downloads, promote, start } = yield* makeStageWith(first)
  const folder = downloads.slice(0, -"/downloads".length)
  const servers = yield* start()
  yield* promote(1)
  /** Whether the screen has shown a version, or has said what it cannot show. */
  const isHeard = (consumerId: string) => Effect.sync(() => acks.some((ack) => ack.consumerId === consumerId))
  let swaps = 0
  return {
    url: servers.url,
    isHeard,
    isHeardOf: (consumerId: string) => eventually(isHeard(consumerId)),
    problems: () => acks.flatMap(({ consumerId, problem }) => (problem === undefined ? [] : [consumerId])),
    swap: Effect.fnUntraced(function* (page: string) {
      yield* writeFile(`${folder}/next/index.html`, page)
      yield* Effect.promise(async () => {
        await rename(`${folder}/page`, `${folder}/before-${++swaps}`)
        await rename(`${folder}/next`, `${folder}/page`)
      })
    })
  }
})

/** While the page is being loaded there is none. */
const endVideo = (tab: Page) =>
  Effect.ignore(
    Effect.tryPromise(() => tab.evaluate("document.querySelector('video').dispatchEvent(new Event('ended'))"))
  )

describe.skipIf(isMissing("chromium"))("an open page", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each([
      ["that works", works, []],
      ["whose load fails", fails, ["build-1"]]
    ] as const)("of %s loads a new build after an event", ([, load, problems]) =>
      Effect.gen(function* () {
        const opened = yield* makeOpened(build(1, `${load}, onNewPage: (reload) => reload()`))
        const tab = yield* openTab(`${opened.url}?screen=left#top`)
        yield* opened.isHeardOf("build-1")
        yield* opened.swap(build(2, works))
        yield* opened.isHeardOf("build-2")
        expect(tab.url()).toBe(`${opened.url}?screen=left#top`)
        expect(opened.problems()).toEqual(expect.arrayContaining([...problems]))
        expect(new Set(opened.problems())).toEqual(new Set(problems))
      })
    )

    it.scoped("loads a new build at the end of its video, as the documentation shows", () =>
      Effect.gen(function* () {
        const [sample] = samplesOf("docs/page.md").filter(({ text }) => text.includes("onNewPage:"))
        const opened = yield* makeOpened(pageOf(sample?.text ?? ""))
        const tab = yield* openTab(opened.url)
        yield* waitFor(tab, "performance.getEntriesByName(new URL('/manifest.json', location)).length > 0")
        yield* opened.swap(build(2, works))
        yield* eventually(Effect.zipRight(endVideo(tab), opened.isHeard("build-2")))
      })
    )
  })
})
