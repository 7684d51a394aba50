/**
 * Event streams that another process has open.
 */
import { spawn } from "node:child_process"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const program = `
const [port, streams] = process.argv.slice(1).map(Number)
for (let stream = 0; stream < streams; stream++) {
  const socket = require("node:net").connect(port, "127.0.0.1")
  socket.write("GET /events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
  socket.resume()
}`

export interface ClientProcess {
  /** Ends it on the spot, as a crash does. */
  readonly kill: Effect.Effect<void>
}

/** A process that opens so many event streams; it is killed with the scope at the latest. */
export const openStreams = (
  port: number,
  streams: number
): Effect.Effect<ClientProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["-e", program, String(port), String(streams)], {
        stdio: ["ignore", "ignore", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(Effect.map((child) => ({ kill: Effect.sync(() => void child.kill("SIGKILL")) })))
