/** What becomes of a process that uses `vitrine/plain`. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { openEvents } from "../support/plainTransport.ts"
import * as Received from "../support/Received.ts"

const folder = fileURLToPath(new URL("../..", import.meta.url))

const prelude = `
import { createServer as createHttpServer, get } from "node:http"
import { createServer } from "node:net"
import { httpTransport, tableSource } from "vitrine/plain"
import { okAsync } from "neverthrow"
const handlers = new Set()
const stopping = new AbortController()
const context = {
  eventBus: {
    onAny: (handler) => handlers.add(handler),
    offAny: (handler) => handlers.delete(handler),
    emit: (name, payload) => handlers.forEach((handler) => handler(name, payload))
  },
  logger: { error: console.error, warn: console.error, info() {}, debug() {}, verbose() {} },
  abortSignal: stopping.signal,
  mode: "persistent",
  getStatusSnapshot: () => ({}),
  getGlobalState: () => ({}),
  updateState() {},
  dispatchCommand: () => okAsync(1)
}
const setUp = async (options) => await httpTransport({ port: 0, ...options }).setup(context)
const connect = ({ address }) => new Promise((resolve) => {
  get({ port: address.port, path: "/events", agent: false }, (response) => {
    response.on("error", () => {}).once("data", () => resolve()).resume()
  }).on("error", () => {})
})
`

const endings: Record<string, string> = {
  "is disconnected": `
    const instance = (await setUp())._unsafeUnwrap()
    await connect(instance)
    context.eventBus.emit("content:version:promoted", {})
    await instance.disconnect("enough")`,
  "is aborted": `
    const instance = (await setUp())._unsafeUnwrap()
    await connect(instance)
    stopping.abort()`,
  "runs in task mode": `
    context.mode = "task"
    ;(await setUp())._unsafeUnwrap()`,
  "cannot be bound": `
    const server = createServer()
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
    ;(await setUp({ port: server.address().port }))._unsafeUnwrapErr()
    server.close()`,
  "or its source was read, without success and without anybody who waited for it": `
    const server = createHttpServer((request, response) => response.writeHead(404).end())
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
    const endpointUrl = "http://127.0.0.1:" + server.address().port
    const options = { id: "a", baseId: "b", apiKey: "c", endpointUrl, tables: ["Objects", "Settings"] }
    tableSource(options).fetch(context)
    server.once("request", () => server.close())`
}

/** Runs a process that is killed with the scope if it still runs then. */
const run = (command: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, command, {
        cwd: folder,
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const output = Received.make()
      child.stdout.on("data", output.append)
      child.stderr.on("data", output.append)
      const status = new Promise<number | NodeJS.Signals | null>((resolve) => {
        child.once("close", (code, signal) => {
          output.end()
          resolve(code ?? signal)
        })
      })
      return { output, status: Effect.promise(() => status), signal: () => child.kill("SIGINT") }
    })
  )

describe("a process ends by itself when its transport", () => {
  for (const [ending, program] of Object.entries(endings)) {
    it.scopedLive(ending, () =>
      Effect.gen(function* () {
        const { output, status } = yield* run(["--input-type=module", "-e", prelude + program])
        expect({ status: yield* status, output: output.text() }).toEqual({ status: 0, output: "" })
      })
    )
  }
})

describe("vitrine/plain", () => {
  it("loads neither the command line nor the content plugin nor the controller", async () => {
    const { metafile } = await build({
      entryPoints: [`${folder}src/plain.ts`],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      packages: "external"
    })
    const own = Object.keys(metafile.inputs)
    const packages = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    expect(own).toContain("src/layers/httpTransport/HttpTransport.ts")
    expect(
      own.filter(
        (path) =>
          !/^src\/(plain\.ts|internal\/|services\/|files\/|layers\/(documents|fanOut|http|httpClient|httpTransport|memory|plain|sources|status)\/)/.test(
            path
          )
      )
    ).toEqual([])
    expect(
      packages.filter(
        (path) =>
          !/^(node:|effect\/|@effect\/platform(-node)?\/|(content-disposition|eventsource-parser|ipaddr\.js|leven|mime|neverthrow)$)/.test(
            path
          )
      )
    ).toEqual([])
  })

  /** As a program that uses these names of it, in one file. */
  const bundled = async (names: string, format: "cjs" | "esm") => {
    const { outputFiles, warnings } = await build({
      stdin: { contents: `export { ${names} } from "vitrine/plain"`, resolveDir: folder },
      bundle: true,
      write: false,
      minify: true,
      platform: "node",
      format,
      logLevel: "silent"
    })
    expect(warnings).toEqual([])
    return outputFiles[0]?.text ?? ""
  }

  it("lets a bundler leave out what is not used", async () => {
    expect((await bundled("formatSseEvent", "esm")).length).toBeLessThan(5000)
    expect((await bundled("httpTransport", "esm")).length).toBeLessThan(600_000)
  })

  it.scopedLive("runs in a bundle that is CommonJS", () =>
    Effect.gen(function* () {
      const text = yield* Effect.promise(() => bundled("formatSseEvent, httpTransport, tableSource", "cjs"))
      const program = `
        const { formatSseEvent, httpTransport, tableSource } = module.exports
        tableSource({ id: "a", baseId: "b", apiKey: "c" })
        httpTransport().setup({}).mapErr(({ name }) => console.log(formatSseEvent("failed", name)))`
      const file = join(mkdtempSync(join(tmpdir(), "vitrine-bundle-")), "program.cjs")
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dirname(file), { recursive: true })))
      writeFileSync(file, text + program)
      const { output, status } = yield* run([file])
      expect({ status: yield* status, output: output.text() }).toEqual({
        status: 0,
        output: "event: failed\ndata: vitrine/PluginSetupFailed\n\n\n"
      })
    })
  )

  it.scopedLive("runs the example", () =>
    Effect.gen(function* () {
      const command = ["node_modules/jiti/lib/jiti-cli.mjs", "scratchpad/plain-controller.ts"]
      const { output, signal, status } = yield* run(command, { PORT: "0" })
      const text = yield* output.until((text) => / at http:\S+:\d+\/status/.test(text))
      const port = Number(/ at http:\S+:(\d+)\/status/.exec(text)?.[1])
      const { received } = yield* openEvents(port)
      yield* received.until((text) => text.includes('event: clock:tick\ndata: "20'))
      signal()
      expect(yield* status).toBe(0)
    })
  )
})
