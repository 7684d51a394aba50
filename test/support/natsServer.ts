/**
 * Debian's `nats-server` with JetStream, in its own process, with its own store.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { freePort } from "./freePort.ts"
import { pathOf } from "./programs.ts"
import * as Received from "./Received.ts"

export interface NatsServer {
  readonly url: string
  /** Runs it, on the same port each time. */
  readonly start: Effect.Effect<void>
  /** Sends a signal; after one that ends it, waits for its end. */
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Removes all that it has stored; it must not be running. */
  readonly emptyStore: Effect.Effect<void>
  /** Has it read another configuration, while it runs. */
  readonly reload: (configuration: string) => Effect.Effect<void>
}

export interface NatsServerOptions {
  /** What its configuration has beside the store. */
  readonly configuration?: string
  /** Settings of its JetStream, `max_file: 1MB` for example. */
  readonly jetStream?: string
  /** An existing folder for its store. Default: a temporary one. */
  readonly store?: string
}

/** A server that runs until the scope ends. */
export const startNatsServer = ({
  configuration = "",
  jetStream = "",
  store: ownStore
}: NatsServerOptions = {}): Effect.Effect<NatsServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "nats-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const store = ownStore ?? folder
    const file = join(folder, "server.conf")
    const configure = (configuration: string) =>
      Effect.sync(() =>
        writeFileSync(file, `jetstream { store_dir: "${store}", ${jetStream} }\n${configuration}`)
      )
    yield* configure(configuration)
    const port = yield* freePort
    let child: ChildProcess | undefined
    let end: Promise<void> = Promise.resolve()

    const signal = (name: NodeJS.Signals) =>
      Effect.suspend(() => {
        child?.kill(name)
        return ["SIGSTOP", "SIGCONT", "SIGHUP"].includes(name) ? Effect.void : Effect.promise(() => end)
      })
    const start = Effect.suspend(() => {
      const log = Received.make()
      const started = spawn(
        pathOf("nats-server"),
        ["--addr", "127.0.0.1", "--port", String(port), "--config", file],
        { stdio: ["ignore", "ignore", "pipe"] }
      )
      child = started
      started.stderr.on("data", log.append)
      end = new Promise((resolve) => {
        started.once("close", () => {
          log.end()
          resolve()
        })
      })
      return Effect.asVoid(log.until((text) => text.includes("Server is ready")))
    })

    yield* Effect.addFinalizer(() => signal("SIGKILL"))
    yield* start
    return {
      url: `nats://127.0.0.1:${port}`,
      start,
      signal,
      reload: (configuration) => Effect.zipRight(configure(configuration), signal("SIGHUP")),
      emptyStore: Effect.sync(() => rmSync(join(store, "jetstream"), { recursive: true, force: true }))
    }
  })
