/**
 * The source passes the contract of all sources, and reports problems in its own words.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { RequestPacingMemory } from "vitrine"
import { contentSourceContract } from "vitrine/testing"
import { shelfSource } from "./ShelfSource.ts"
import { startShelfServer } from "./shelfServer.ts"

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, NodeHttpClient.layer, RequestPacingMemory.layer))

const book = (title: string) => [{ key: "1", values: { title } }]

contentSourceContract(
  "shelfSource",
  Effect.gen(function* () {
    const { setShelf, url } = yield* startShelfServer({ token: "secret" })
    let edits = 0
    yield* setShelf("Books", book("Almagest"))
    return {
      source: yield* shelfSource({ id: "library", url, token: "secret", shelves: ["Books"] }).make,
      edit: Effect.suspend(() => setShelf("Books", book(`Almagest ${++edits}`)))
    }
  }).pipe(run)
)

describe("shelfSource", () => {
  const failure = (token: string, shelf: string) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { setShelf, url } = yield* startShelfServer({ token: "secret" })
      yield* setShelf("Books", book("Almagest"))
      const source = yield* shelfSource({ id: "library", url, token, shelves: [shelf] }).make
      const directory = yield* fs.makeTempDirectoryScoped()
      const target = { directory, previous: Option.none(), progress: () => Effect.void }
      return (yield* Effect.flip(source.fetch(target))).message
    }).pipe(run)

  it.scopedLive("names the option that is wrong, and no token", () =>
    Effect.gen(function* () {
      expect(yield* failure("wrong", "Books")).toContain('Shelf "Books": the server does not accept "token"')
      expect(yield* failure("secret", "Tools")).toContain(
        'Shelf "Tools": the server has none of this name; check "shelves"'
      )
    })
  )

  it("says all that is wrong with its options, and no token", () => {
    const { issues } = shelfSource({ id: "library", url: "shelves", token: "a b", shelves: [] })
    expect(issues).toEqual([
      { path: "url", message: 'expected the address of a server, such as "https://shelves.example"' },
      { path: "token", message: "expected a token (is the environment variable set?)" },
      { path: "shelves", message: 'expected an array of names of shelves, such as ["Books"]' }
    ])
  })
})
