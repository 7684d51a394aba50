import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as application from "../../../src/layers/http/application.ts"
import { listen } from "../../../src/layers/http/listen.ts"
import { bodyOf } from "../../../src/layers/tableServer/ApiError.ts"
import type { AttachmentFolder } from "../../../src/layers/tableServer/AttachmentFolder.ts"
import { noRequests } from "../../../src/layers/tableServer/apiRequest.ts"
import * as Faults from "../../../src/layers/tableServer/Faults.ts"
import * as FolderChanges from "../../../src/layers/tableServer/FolderChanges.ts"
import * as RateLimit from "../../../src/layers/tableServer/RateLimit.ts"
import * as Routes from "../../../src/layers/tableServer/routes.ts"
import type { TableFolder } from "../../../src/layers/tableServer/TableFolder.ts"
import * as Webhooks from "../../../src/layers/tableServer/Webhooks.ts"
import { TableFolderError } from "../../../src/services/TableServer.ts"
import { withLog } from "../../support/logged.ts"
import * as rawHttp from "../../support/rawHttp.ts"

const segment = FastCheck.string({ unit: "grapheme", minLength: 1, maxLength: 200 }).filter(
  (text) => text !== "." && text !== ".."
)

const emptyFolder: TableFolder = {
  directory: "/tables",
  names: Effect.succeed([]),
  views: Effect.succeed({}),
  find: () => Effect.succeed(Option.none())
}

const attachments: AttachmentFolder = { find: () => Effect.dieMessage("there are no attachments") }

/** Asks a server for a path. */
const ask = (folder: TableFolder, path: string, method = "GET") =>
  Effect.gen(function* () {
    const server = yield* application.make({
      routes: Routes.make({
        folder,
        webhooks: yield* Webhooks.make(FolderChanges.make(folder, attachments)),
        options: {},
        rateLimit: RateLimit.unlimited,
        faults: Faults.make([]),
        counts: yield* Ref.make(noRequests),
        issuer: "test",
        attachments,
        linkTo: () => ""
      }),
      refuse: Option.none,
      headers: () => ({}),
      bodyOf
    })
    const { port } = yield* listen(server, { host: "127.0.0.1", port: 0 })
    const { body, status } = yield* rawHttp.request(port, {
      method,
      target: path,
      headers: { Authorization: "Bearer any" }
    })
    return { status, body }
  }).pipe(Effect.scoped)

describe("routes", () => {
  it.effect.prop(
    "decode a percent-encoded name just once",
    [segment],
    ([name]) =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const folder: TableFolder = {
          ...emptyFolder,
          find: (table) =>
            Effect.as(
              Effect.sync(() => asked.push(table)),
              Option.none()
            )
        }
        const { status } = yield* ask(folder, `/v0/app/${encodeURIComponent(name)}?pageSize=5`)
        assert.strictEqual(status, 403)
        assert.deepStrictEqual(asked, [name])
      }),
    { fastCheck: { numRuns: 30 } }
  )

  it.effect.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("do not know %s", (method) =>
    Effect.gen(function* () {
      const answer = yield* ask(emptyFolder, "/v0/app/Objects", method)
      assert.deepStrictEqual(answer, { status: 404, body: '{"error":"NOT_FOUND"}' })
    })
  )

  it.effect("answer a failure of their own in the API's shape, and log it", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const folder: TableFolder = { ...emptyFolder, find: () => Effect.die(new Error("a detail")) }
      const { body, status } = yield* ask(folder, "/v0/app/Objects")
      assert.strictEqual(status, 500)
      assert.match(body, /^{"error":{"type":"SERVER_ERROR","message":"/)
      assert.notInclude(body, "a detail")
      assert.match(log.join(), /^ERROR .*a detail/)
    }).pipe(withLog(log))
  })

  it.effect("say that the folder cannot be read any more", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const gone = new TableFolderError({
        directory: "/tables",
        detail: "there is no such folder.",
        cause: ""
      })
      const { body, status } = yield* ask({ ...emptyFolder, find: () => gone }, "/v0/app/Objects")
      assert.strictEqual(status, 500)
      assert.include(body, "/tables: there is no such folder.")
      assert.deepStrictEqual(log, [`ERROR ${gone.message}`])
    }).pipe(withLog(log))
  })
})
