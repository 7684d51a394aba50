/**
 * Replicas that are killed at random instants while they put copies together in the folders of versions that were swept.
 */
import { readFileSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { sha256OfText } from "../../src/files/sha256.ts"
import { makeHub } from "../support/hub.ts"
import { isLong, runs, seed } from "../support/kills.ts"
import { makeProject, transportUrl } from "../support/project.ts"

/** Each starts a whole controller. */
const kills = isLong ? runs : 4

/** Hub, readers and tests share one process, which is not to be busy with looking alone. */
const pause = Schedule.spaced("5 millis")

const eventually = (condition: () => boolean) =>
  Effect.repeat(Effect.sync(condition), { schedule: pause, until: (holds) => holds })

const post = (url: string) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "content.fetch" })
  })

/** A third of the files changes in each edition, another one each time: they say in which they did, in as many digits. */
const editionOf = (edition: number) => ({
  exhibits: Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `room ${index % 5}/${index}.txt`,
      `file ${index} of ${String(edition - ((edition + index) % 3)).padStart(8, "0")}`
    ])
  )
})

const textIn = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return
  }
}

/** Reads all that is shown; returns what is wrong unless that was swept meanwhile, because there is a newer version. */
const problemIn = (downloads: string): string | undefined => {
  const manifest = textIn(`${downloads}/manifest.json`)
  if (manifest === undefined) return
  const { filesSha256, versionPath } = JSON.parse(manifest)
  const list = textIn(`${downloads}/${versionPath}/files.json`)
  const files: ReadonlyArray<readonly [string, { readonly sha256: string }]> =
    list === undefined ? [] : Object.entries(JSON.parse(list).sources[0].files)
  const digests = [
    ["files.json", list, filesSha256] as const,
    ...files.map(
      ([file, { sha256 }]) => [file, textIn(`${downloads}/${versionPath}/exhibits/${file}`), sha256] as const
    )
  ]
  const isSwept = textIn(`${downloads}/manifest.json`) !== manifest
  const wrong = digests.find(([, text, sha256]) =>
    text === undefined ? !isSwept : sha256OfText(text) !== sha256
  )
  return wrong && `${versionPath}: ${wrong[0]} is ${wrong[1] ?? "not there"}`
}

describe("a replica that is killed", () => {
  it.scopedLive(
    "has only complete versions, and the next one continues",
    ({ annotate }) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => annotate(`KILL_SEED=${seed}`))
        const { folder, run, write } = yield* makeProject
        const downloads = `${folder}/downloads`
        yield* write(
          "vitrine.config.ts",
          `import { defineConfig, httpTransport, replica } from "vitrine"
export default defineConfig({
  plugins: [
    replica({ from: process.env.HUB ?? "", pollEvery: "1 hour", keepVersions: 2 }),
    httpTransport({ port: 0, allowedCommands: ["content.fetch"] })
  ]
})
`
        )
        const hub = yield* makeHub
        let edition = 0
        const problems = new Set<string>()
        /** Brings one edition after the other to a replica, until that has ended. */
        const bringEditions = (url: string) =>
          Effect.gen(function* () {
            yield* hub.promote(editionOf(edition + 1))
            const response = yield* Effect.tryPromise(() => post(`${url}/command`))
            if (!response.ok) problems.add(yield* Effect.promise(() => response.text()))
            yield* hub.store.sweep
            edition++
          }).pipe(Effect.forever, Effect.ignore)

        /** By then it has swept versions, and uses their folders. */
        const startAndBring = (editions: number) =>
          Effect.gen(function* () {
            const replica = yield* run(["start"], { HUB: hub.url })
            const bringing = yield* Effect.forkScoped(bringEditions(yield* replica.logged(transportUrl)))
            const from = edition
            yield* eventually(() => edition >= from + editions)
            return { replica, bringing }
          })

        yield* Effect.forkScoped(
          Effect.repeat(
            Effect.sync(() => {
              const problem = problemIn(downloads)
              if (problem !== undefined) problems.add(problem)
            }),
            pause
          )
        )

        for (let kill = 0; kill < kills; kill++) {
          const { replica } = yield* startAndBring(3)
          yield* Effect.sleep(yield* Random.nextRange(0, 200))
          yield* replica.signal("SIGKILL")
          yield* replica.ended
          expect([...problems]).toEqual([])
        }
        const { bringing, replica } = yield* startAndBring(3)
        yield* Fiber.interrupt(bringing)
        yield* replica.signal("SIGTERM")
        expect(yield* replica.ended).toMatchObject({ status: 0 })
        expect(yield* Effect.flatMap(run(["verify"], { HUB: hub.url }), ({ ended }) => ended)).toMatchObject({
          status: 0
        })
        expect([...problems]).toEqual([])
      }).pipe(Effect.withRandom(Random.make(seed)), Effect.provide(NodeContext.layer)),
    isLong ? 3_600_000 : 240_000
  )
})
