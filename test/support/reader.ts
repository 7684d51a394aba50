/**
 * Somebody who follows the documentation in their own project: a shell, an installed package, a browser's page.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createReadStream, existsSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { read, repository } from "./documents.ts"
import * as Received from "./Received.ts"
import { builtBin } from "./vitrineProcess.ts"

export interface Reader {
  readonly folder: string
  /** Runs a line of shell to its end; `output` is standard output. */
  readonly run: (line: string) => Effect.Effect<{ readonly output: string; readonly status: number | null }>
  /** Runs a line that goes on, until its standard output matches. */
  readonly watch: (line: string, pattern: RegExp) => Effect.Effect<void>
  /** Starts what goes on in the foreground, in the place of what does so now, and waits until its log matches. */
  readonly keepRunning: (line: string, pattern: RegExp) => Effect.Effect<void, never, Scope.Scope>
  /** Ends what runs in the foreground, as Ctrl-C does. */
  readonly interrupt: Effect.Effect<void>
  /** Puts this reader's ports in the place of those that a file names. */
  readonly useFreePorts: (file: string) => Effect.Effect<void>
  /** Serves a page that runs the script, beside the downloads folder, and returns its address. */
  readonly servePage: (script: string) => Effect.Effect<string, never, Scope.Scope>
}

/** The ports that the documentation names: of the transport, the content server, and the table server. */
const documentedPorts = ["8710", "8730", "8740"]

const listening = (server: Server) =>
  Effect.promise(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    return String(typeof address === "object" ? address?.port : address)
  })

const serving = (server: Server) =>
  Effect.acquireRelease(listening(server), () =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )

const { dependencies, peerDependencies = {} } = JSON.parse(read("package.json"))

/** A project with the package in it, and what the package brings. */
const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-reader-" }))
  const modules = join(folder, "node_modules")
  yield* fs.makeDirectory(modules)
  yield* fs.symlink(repository, join(modules, "vitrine"))
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    yield* fs.makeDirectory(dirname(join(modules, name)), { recursive: true })
    yield* fs.symlink(join(repository, "node_modules", name), join(modules, name))
  }
  yield* fs.writeFileString(join(folder, "package.json"), '{ "type": "module" }\n')
  // What npm would find: the command lines of installed packages.
  const jiti = join(repository, "node_modules/jiti/lib/jiti-cli.mjs")
  const npx = `#!/bin/sh\ncase $1 in vitrine) program='${builtBin}';; jiti) program='${jiti}';; esac\nshift\nexec '${process.execPath}' "$program" "$@"\n`
  yield* fs.makeDirectory(join(modules, ".bin"))
  yield* fs.writeFileString(join(modules, ".bin/npx"), npx, { mode: 0o755 })
  return folder
}).pipe(Effect.orDie)

export const makeReader: Effect.Effect<Reader, never, FileSystem.FileSystem | Scope.Scope> = Effect.gen(
  function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* makeFolder
    const free = yield* Effect.scoped(Effect.forEach(documentedPorts, () => serving(createServer())))
    const withPorts = (text: string) =>
      documentedPorts.reduce((text, port, index) => text.replaceAll(port, free[index] ?? ""), text)

    const start = (line: string) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const child = spawn("sh", ["-c", `exec ${withPorts(line)}`], {
            cwd: folder,
            env: { ...process.env, PATH: `${folder}/node_modules/.bin:${process.env.PATH}` },
            stdio: ["ignore", "pipe", "pipe"]
          })
          const [stdout, stderr] = [Received.from(child.stdout), Received.from(child.stderr)]
          const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
          return { child, closed, stdout, stderr }
        }),
        ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
      )

    let foreground: { readonly child: ChildProcess; readonly closed: Promise<unknown> } | undefined
    const interrupt = Effect.promise(async () => {
      foreground?.child.kill("SIGINT")
      await foreground?.closed
      foreground = undefined
    })

    const run = (line: string) =>
      Effect.scoped(
        Effect.flatMap(start(line), ({ closed, stdout }) =>
          Effect.map(
            Effect.promise(() => closed),
            (status) => ({ output: stdout.text(), status })
          )
        )
      )
    // What a test that has failed left in the background.
    yield* Effect.addFinalizer(() =>
      existsSync(`${folder}/.vitrine/controller.pid`) ? run("npx vitrine stop") : Effect.void
    )

    return {
      folder,
      run,
      interrupt,
      watch: (line, pattern) =>
        Effect.scoped(
          Effect.flatMap(start(line), ({ stdout }) => stdout.until((text) => pattern.test(text)))
        ).pipe(Effect.asVoid),
      keepRunning: (line, pattern) =>
        Effect.gen(function* () {
          yield* interrupt
          const started = yield* start(line)
          foreground = started
          yield* started.stderr.until((text) => pattern.test(text))
        }),
      useFreePorts: (file) =>
        Effect.gen(function* () {
          const path = join(folder, file)
          const text = withPorts(yield* fs.readFileString(path))
          // Nobody waits for a ping as long as the documentation says.
          const impatient = text.replace("httpTransport({", "httpTransport({ keepAliveMs: 100,")
          yield* fs.writeFileString(path, impatient)
        }).pipe(Effect.orDie),
      servePage: (script) =>
        serving(
          createServer((request, response) => {
            if (request.url === "/") {
              response.setHeader("content-type", "text/html")
              response.end(page(withPorts(script)))
            } else if (request.url === "/endpoint.json") {
              response.end(JSON.stringify({ transport: withPorts("http://127.0.0.1:8710") }))
            } else {
              const file = request.url?.startsWith("/vitrine/")
                ? join(repository, "dist", request.url.slice("/vitrine/".length))
                : join(folder, "downloads", String(request.url))
              response.setHeader("content-type", file.endsWith(".js") ? "text/javascript" : "text/plain")
              createReadStream(file)
                .on("error", () => response.writeHead(404).end())
                .pipe(response)
            }
          })
        ).pipe(Effect.map((port) => `http://127.0.0.1:${port}/`))
    }
  }
)

/** The page says at its root what it shows, once that could be loaded. */
const page = (script: string) => `<!doctype html>
<script>
  const show = async (path) => {
    if (path.startsWith("/") && !(await fetch(path)).ok) throw new Error(path)
    document.documentElement.dataset.shown = path
  }
</script>
<script type="importmap">{ "imports": { "vitrine/client": "/vitrine/client.js", "vitrine/client/helpers": "/vitrine/helpers.js" } }</script>
<script type="module">${script}</script>
`
