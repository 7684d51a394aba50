import { pathToFileURL } from "node:url"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hotClient } from "../../../src/layers/vite/hotClient.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

it.scoped("the client of the dev server connects where no module has an address, as in a test runner", () =>
  Effect.gen(function* () {
    const { directory, write } = yield* temporaryFolder()
    const client = `${directory}/client.mjs`
    yield* write("client.mjs", "export const connect = (options) => ({ options, close: () => {} })")
    yield* write("hot.mjs", hotClient(pathToFileURL(client).href))
    const { connect } = yield* Effect.promise(() => import(pathToFileURL(`${directory}/hot.mjs`).href))
    expect(connect("the options").options).toBe("the options")
  }).pipe(Effect.provide(NodeContext.layer))
)
