/**
 * The examples for Unity and .NET, compiled and run under Mono, and the wire that they and Unity's clients rely on.
 */
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { createServer, type Server } from "node:net"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { repository } from "../support/documents.ts"
import { compileLibrary, compileProgram, runProgram } from "../support/mono.ts"
import { isMissing } from "../support/programs.ts"
import { makeProject, transportUrl } from "../support/project.ts"
import { eventually } from "../support/waiting.ts"

const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "vitrine-" })
)

/** The port on which it listens until the scope ends; its connections end with their clients. */
const portOf = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      await once(server.listen(0, "127.0.0.1"), "listening")
      const address = server.address()
      return typeof address === "object" ? address?.port : undefined
    }),
    () => Effect.sync(() => server.close())
  )

describe.skipIf(isMissing("mcs"))("the examples for .NET (skipped without Mono)", () => {
  it.scopedLive("compile into one library", () =>
    Effect.gen(function* () {
      const files = readdirSync(`${repository}/scratchpad/dotnet`).filter((file) => file.endsWith(".cs"))
      expect(files.length).toBe(2)
      compileLibrary(
        files.map((file) => file.replace(/\.cs$/, "")),
        yield* temporaryFolder
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive(
    "ContentFolder.cs waits for the first version, and keeps the shown one with a message while the next is broken",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* temporaryFolder
        const downloads = `${folder}/downloads`
        const program = compileProgram("ContentFolder", folder)
        const { child, stderr, stdout } = yield* runProgram(program, downloads, "a.json", "50", "100")
        const manifest = (content: string) => fs.writeFileString(`${downloads}/manifest.json`, content)
        const naming = (id: string) => JSON.stringify({ versionId: id, versionPath: `versions/${id}` })
        const ack = `${downloads}/acks/screen-1.json`
        const acknowledges = (pattern: RegExp) =>
          eventually(
            fs.readFileString(ack).pipe(
              Effect.map((text) => pattern.test(text)),
              Effect.orElseSucceed(() => false)
            )
          )
        const withoutProblem = /^\{"versionId":"here"\}$/

        yield* fs.makeDirectory(downloads)
        yield* manifest("{")
        yield* stderr.until((text) => text.includes("Unexpected end of file"))
        yield* manifest("null")
        yield* stderr.until((text) => text.includes("The manifest names no version."))

        yield* fs.makeDirectory(`${downloads}/versions/here`, { recursive: true })
        yield* fs.writeFileString(`${downloads}/versions/here/a.json`, "[]")
        yield* manifest(naming("here"))
        expect(yield* stdout.until((text) => text.includes("\n"))).toBe("here: 2 characters\n")
        yield* acknowledges(withoutProblem)
        yield* fs.remove(ack)
        yield* acknowledges(withoutProblem)

        yield* manifest(naming("gone"))
        yield* stderr.until((text) => text.includes("gone/a.json"))
        yield* acknowledges(/^\{"versionId":"here","problem":".*gone.*"\}$/)
        yield* manifest(naming("here"))
        yield* acknowledges(withoutProblem)
        expect(child.exitCode).toBeNull()
        expect(stdout.text()).toBe("here: 2 characters\n")
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive(
    "EventStream.cs disconnects from a server that is silent before its response or within an event",
    () =>
      Effect.gen(function* () {
        const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        const responses = [
          "",
          "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
          `${head}event: lamp:on\ndata: {"room":"Ha`,
          `${head}event: lamp:on\ndata: {"room":"Hall 2"}\n\n`
        ]
        let connections = 0
        const server = createServer((socket) => {
          const response = responses[connections++] ?? ""
          socket.on("error", () => {}).once("data", () => socket.write(response))
        })
        const port = yield* portOf(server)
        const program = compileProgram("EventStream", yield* temporaryFolder)
        const url = `http://127.0.0.1:${port}`
        const { stderr, stdout } = yield* runProgram(program, url, "1000")
        expect(yield* stdout.until((text) => text.includes("\n"))).toBe('lamp:on {"room":"Hall 2"}\n')
        expect(connections).toBe(4)
        expect(stderr.text().match(/^No event stream: .*$/gm)).toEqual([
          "No event stream: nothing came for too long",
          expect.stringContaining("503"),
          "No event stream: nothing came for too long"
        ])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("follow a controller after it was killed, by events and by the folder", () =>
    Effect.gen(function* () {
      const { folder, read, run, serveTables, write } = yield* makeProject
      const TABLES = yield* serveTables()
      const controller = yield* run(["start"], { TABLES })
      const url = yield* controller.logged(transportUrl)
      const first = yield* controller.logged(/New version (\S+):/)
      const programs = yield* temporaryFolder
      const events = yield* runProgram(compileProgram("EventStream", programs), url)
      const content = yield* runProgram(
        compileProgram("ContentFolder", programs),
        ...[`${folder}/downloads`, "museum/Objects.json", "50", "600000"]
      )
      const promoted = (id: string) => new RegExp(`^content:version:promoted \\{"versionId":"${id}"`, "m")
      yield* events.stdout.until((text) => promoted(first).test(text))
      yield* content.stdout.until((text) => text.startsWith(`${first}: `))
      yield* controller.signal("SIGKILL")
      yield* events.stderr.until((text) => text.includes("No event stream: "))

      const again = yield* run(["start"], { TABLES, PORT: new URL(url).port })
      yield* again.logged(/(Ready)/)
      yield* write("tables/Objects.csv", "inventory,title\nA-1,Sextant\n")
      const second = yield* again.logged(new RegExp(`New version (?!${first})(\\S+):`))
      yield* events.stdout.until((text) => promoted(second).test(text))
      yield* content.stdout.until((text) => text.includes(`${second}: `))
      const acknowledges = Effect.map(read("downloads/acks/screen-1.json"), (text) => text.includes(second))
      yield* eventually(acknowledges)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
