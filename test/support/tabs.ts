/**
 * A Chromium whose tabs hide one another, as those of a window do; playwright keeps all tabs visible. It is driven by its
 * debugging port.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pathOf } from "./programs.ts"

const Tab = Schema.Struct({ id: Schema.String, type: Schema.String })

/** A folder for a browser, of which a process may still write when the first one is killed. */
export const browserProfile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "vitrine-chromium-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
)

/** Until the scope ends. */
export const openWindow = Effect.gen(function* () {
  const profile = yield* browserProfile
  const chromium = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        pathOf("chromium"),
        [
          ...[
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-background-networking"
          ],
          ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"]
        ],
        { stdio: ["ignore", "ignore", "pipe"] }
      )
    ),
    (chromium) =>
      Effect.promise(async () => {
        const ended = once(chromium, "exit")
        chromium.kill("SIGKILL")
        await ended
      })
  )
  const address = yield* Effect.async<string>((resume) => {
    let text = ""
    chromium.stderr.on("data", (chunk) => {
      text += chunk
      const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1]
      if (port) resume(Effect.succeed(`http://127.0.0.1:${port}/json`))
    })
  })
  const ask = (path: string, method = "GET") =>
    Effect.promise(async () => (await fetch(`${address}/${path}`, { method })).text())

  return {
    /** In front of all others. */
    open: (url: string) =>
      Effect.map(ask(`new?${url}`, "PUT"), Schema.decodeSync(Schema.parseJson(Tab))).pipe(
        Effect.map(({ id }) => ({
          show: ask(`activate/${id}`),
          close: ask(`close/${id}`)
        }))
      )
  }
})
