import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as rawHttp from "../../support/rawHttp.ts"
import { errorType, start } from "./server.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

interface Attachment {
  readonly id: string
  readonly url: string
  readonly filename: string
  readonly size: number
  readonly type: string
}

const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>"

/** A folder with a picture, and with the table `Objects` whose first record has it. */
const museum = (cell: unknown = [{ file: "a.svg" }]) =>
  Effect.tap(
    temporaryFolder({ "Objects.json": JSON.stringify([{ Title: "Astrolabe", Pictures: cell }]) }),
    ({ write }) => write("a.svg", svg)
  )

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  (body as { records: ReadonlyArray<{ fields: Record<string, unknown> }> }).records[0]?.fields ?? {}

const attachmentsOf = (body: unknown) => fieldsOf(body).Pictures as ReadonlyArray<Attachment>

const download = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { headers })
    const type = response.headers.get("content-type")
    const length = Number(response.headers.get("content-length"))
    return { status: response.status, type, length, text: await response.text() }
  })

describe("attachments of the table server", () => {
  it.scoped("are listed as the API lists them, and come from another origin", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum()
      const { get, url } = yield* start(directory)
      const [attachment, ...others] = attachmentsOf((yield* get("/v0/appX/Objects")).body)
      assert.lengthOf(others, 0)
      assert.isDefined(attachment)
      const { id, url: link, ...rest } = attachment
      assert.deepStrictEqual(rest, { filename: "a.svg", size: svg.length, type: "image/svg+xml" })
      assert.match(id, /^att[a-zA-Z0-9]{14}$/)
      assert.strictEqual(new URL(link).hostname, "127.0.0.1")
      assert.notStrictEqual(new URL(link).origin, url)
      assert.notInclude(new URL(link).pathname, ".")
      assert.deepStrictEqual(yield* download(link), {
        status: 200,
        type: "image/svg+xml",
        length: svg.length,
        text: svg
      })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("have one id as long as their content stays, and a new link at every listing", () =>
    Effect.gen(function* () {
      const { directory, write } = yield* museum()
      const { get } = yield* start(directory)
      const listed = Effect.map(get("/v0/appX/Objects"), ({ body }) => attachmentsOf(body)[0])
      const first = yield* listed
      const second = yield* listed
      assert.strictEqual(second?.id, first?.id)
      assert.notStrictEqual(second?.url, first?.url)
      yield* write("a.svg", `${svg}<!-- edited -->`)
      const third = yield* listed
      assert.notStrictEqual(third?.id, first?.id)
      assert.strictEqual((yield* download(first?.url ?? "")).status, 404)
      assert.strictEqual((yield* download(third?.url ?? "")).status, 200)
      const other = yield* start(directory)
      const elsewhere = attachmentsOf((yield* other.get("/v0/appX/Objects")).body)[0]
      assert.strictEqual(elsewhere?.id, third?.id)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("have links that expire, after two hours if nothing else is said", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum()
      for (const [options, before, rest] of [
        [{}, 7_199_999, 1],
        [{ attachmentLinkLifetime: "10 seconds" }, 9_999, 1]
      ] as const) {
        const { get } = yield* start(directory, options)
        const { body } = yield* get("/v0/appX/Objects")
        const link = attachmentsOf(body)[0]?.url ?? ""
        yield* TestClock.adjust(before)
        assert.strictEqual((yield* download(link)).status, 200)
        yield* TestClock.adjust(rest)
        const { status, text } = yield* download(link)
        assert.deepStrictEqual([status, errorType(JSON.parse(text))], [403, "LINK_EXPIRED"])
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("are refused for a forged link, and for a request with a token", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum()
      const { get } = yield* start(directory)
      const other = yield* start(directory)
      const link = attachmentsOf((yield* get("/v0/appX/Objects")).body)[0]?.url ?? ""
      const [, version, payload = "", signature = ""] = new URL(link).pathname.split("/")
      const forged = Buffer.from(
        JSON.stringify({
          ...JSON.parse(Buffer.from(payload, "base64url").toString()),
          file: "Objects.json"
        })
      ).toString("base64url")
      const theirs = attachmentsOf((yield* other.get("/v0/appX/Objects")).body)[0]?.url ?? ""
      const wrong = [
        `/${version}/${forged}/${signature}`,
        `/${version}/${payload}/${signature.slice(0, -1)}`,
        `/${version}/${payload}/x`,
        new URL(theirs).pathname
      ]
      for (const path of wrong) {
        const { status, text } = yield* download(new URL(path, link).href)
        assert.deepStrictEqual([status, errorType(JSON.parse(text))], [403, "LINK_INVALID"])
      }
      assert.strictEqual((yield* download(new URL("/a.svg", link).href)).status, 404)
      for (const authorization of ["Bearer any", "Basic x"]) {
        const { status, text } = yield* download(link, { authorization })
        assert.deepStrictEqual([status, errorType(JSON.parse(text))], [400, "AUTHORIZATION_NOT_ALLOWED"])
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("may have what a table says of them, and hang anywhere in an array", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum([
        { file: "a.svg", filename: "../evil.svg", width: 3, type: null, size: null, url: "http://other/" },
        null,
        [{ file: "a.svg", id: "att1" }, "text"]
      ])
      const lookups = yield* museum([[null, { file: "a.svg" }]])
      const { get } = yield* start(directory)
      const [first, nothing, nested] = fieldsOf((yield* get("/v0/appX/Objects")).body).Pictures as [
        Attachment,
        null,
        [Attachment, string]
      ]
      assert.sameMembers(Object.keys(first), ["id", "filename", "width", "url"])
      assert.strictEqual(first.filename, "../evil.svg")
      assert.isNull(nothing)
      assert.strictEqual(nested[0].id, "att1")
      assert.strictEqual(nested[1], "text")
      assert.strictEqual((yield* download(first.url)).text, svg)
      const other = yield* start(lookups.directory)
      const [[, lookup]] = fieldsOf((yield* other.get("/v0/appX/Objects")).body).Pictures as [
        [null, Attachment]
      ]
      assert.strictEqual((yield* download(lookup.url)).text, svg)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("are named in CSV by a column of paths, one a line", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.csv": 'Title,Pictures (attachments)\nAstrolabe,"a.svg\n b.bin "\nBarometer,\n',
        "a.svg": svg,
        "b.bin": ""
      })
      const { get } = yield* start(directory)
      const { body } = yield* get("/v0/appX/Objects")
      assert.deepStrictEqual(
        attachmentsOf(body).map(({ filename, size, type }) => [filename, size, type]),
        [
          ["a.svg", svg.length, "image/svg+xml"],
          ["b.bin", 0, "application/octet-stream"]
        ]
      )
      const { records } = body as { records: ReadonlyArray<{ id: string; fields: unknown }> }
      assert.deepStrictEqual(records[1]?.fields, { Title: "Barometer" })
      const empty = yield* download(attachmentsOf(body)[1]?.url ?? "")
      assert.deepStrictEqual([empty.status, empty.length, empty.text], [200, 0, ""])
      const one = yield* get(`/v0/appX/Objects/${records[0]?.id}`)
      assert.strictEqual((one.body as { fields: { Pictures: [] } }).fields.Pictures.length, 2)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("must be files inside the folder, and are named where they are not", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const outside = yield* temporaryFolder({ "secret.txt": "secret" })
      const { directory, write } = yield* museum()
      yield* fs.symlink(`${outside.directory}/secret.txt`, `${directory}/link.txt`)
      yield* fs.makeDirectory(`${directory}/pictures`)
      const { get } = yield* start(directory, { rateLimit: false })
      for (const [file, problem] of [
        ["none.svg", "cannot be read: it is not there."],
        ["pictures", "is not a file"],
        ["link.txt", "is a link that leads out of the folder"],
        ["../secret.txt", "must be a path inside the folder"],
        [`${outside.directory}/secret.txt`, "must be a path inside the folder"],
        ["pictures\\a.svg", "must be a path inside the folder"],
        ["pictures//a.svg", "must be a path inside the folder"],
        ["", "must be a path inside the folder"],
        ["a:*|.svg", 'has a ":" in its name, which Windows does not allow. Rename the file.'],
        ["C:/a.svg", 'has a ":" in its name']
      ] as const) {
        yield* write("Objects.json", JSON.stringify([{ Pictures: [{ file }] }]))
        const { body, status } = yield* get("/v0/appX/Objects")
        assert.deepStrictEqual([file, status, errorType(body)], [file, 422, "INVALID_TABLE_FILE"])
        const { error } = body as { error: { message: string } }
        assert.isTrue(error.message.startsWith(`${file}: ${problem}`), error.message)
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("are linked by the name with which the server was reached", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum()
      const { port } = yield* start(directory, { rateLimit: false })
      const hostnameFor = (Host: string) =>
        rawHttp
          .request(port, { target: "/v0/appX/Objects", headers: { Host, Authorization: "Bearer any" } })
          .pipe(Effect.map(({ body }) => new URL(attachmentsOf(JSON.parse(body))[0]?.url ?? "").hostname))
      assert.strictEqual(yield* hostnameFor("tables.example:8730"), "tables.example")
      assert.strictEqual(yield* hostnameFor("[::1]:8730"), "[::1]")
      assert.strictEqual(yield* hostnameFor("a b"), "127.0.0.1")
      assert.strictEqual(yield* hostnameFor(""), "127.0.0.1")
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
