/**
 * The page of `vitrine init --page`, as a newcomer sees it first.
 */
import { request } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Browser, openTab } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { makeReader } from "../support/reader.ts"

/** Of a path that is sent as it is: `fetch` would resolve its dots. */
const statusOf = (url: string, path: string) =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) =>
        request(url, { path }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on("error", reject)
          .end()
      )
  )

describe.skipIf(isMissing("chromium"))("the page of a new project", () => {
  layer(Layer.provideMerge(Browser.layer, NodeContext.layer), { excludeTestServices: true, timeout: 60_000 })(
    (it) => {
      it.scoped("shows the tables, what is changed in them, and no file beside them", () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const reader = yield* makeReader
          expect(yield* reader.run("npx vitrine init --page")).toMatchObject({ status: 0 })
          yield* reader.useFreePorts("vitrine.config.ts")
          const text = yield* fs.readFileString(`${reader.folder}/vitrine.config.ts`)
          yield* reader.keepRunning("npx vitrine start", /New version/)

          const port = /contentServer\(\{ port: (\d+),/.exec(text)?.[1]
          const url = `http://127.0.0.1:${port}`
          const tab = yield* openTab(url)
          yield* Effect.promise(() => tab.waitForSelector("text=The Sulking Barometer"))
          expect(yield* Effect.promise(() => tab.textContent("h1"))).toBe("Kept")
          yield* Effect.promise(() =>
            tab.waitForFunction(
              "document.images.length === 2 && [...document.images].every(({ naturalWidth }) => naturalWidth > 0)"
            )
          )
          // Without it, the browser asks for one that is not there.
          expect(yield* Effect.promise(() => tab.getAttribute("link[rel=icon]", "href"))).toBe("data:,")
          yield* fs.writeFileString(`${reader.folder}/content/Objects.csv`, "title\nA New Bell\n")
          yield* Effect.promise(() => tab.waitForSelector("text=A New Bell"))

          expect(yield* statusOf(url, "/manifest.json")).toBe(200)
          for (const path of ["/../vitrine.config.ts", "/..%2fvitrine.config.ts", "/versions/", "/.env"]) {
            expect(yield* statusOf(url, path)).toBe(404)
          }
        })
      )
    }
  )
})
