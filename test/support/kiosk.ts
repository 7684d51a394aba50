/**
 * The Chromium of a kiosk: a window whose pages hide one another, and processes that can be killed. It is driven over a pipe,
 * wherever its network is; playwright would keep all pages visible.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Duplex } from "node:stream"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { pathOf } from "./programs.ts"

const Message = Schema.parseJson(
  Schema.Struct({ id: Schema.optional(Schema.Number), result: Schema.optional(Schema.Unknown) })
)
const decodeMessage = Schema.decodeSync(Message)

const Target = Schema.Struct({ targetId: Schema.String })

const Session = Schema.Struct({ sessionId: Schema.String })

const Evaluated = Schema.Struct({ result: Schema.Struct({ value: Schema.String }) })

const Processes = Schema.Struct({
  processInfo: Schema.Array(Schema.Struct({ type: Schema.String, id: Schema.Number }))
})

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--remote-debugging-pipe"
]

/** It is killed with the scope. `by` is what starts it. */
export const openKiosk = Effect.fnUntraced(function* (by: ReadonlyArray<string> = []) {
  const fs = yield* FileSystem.FileSystem
  const profile = yield* Effect.acquireRelease(
    fs.makeTempDirectory({ prefix: "vitrine-kiosk-" }),
    // Its other processes may write to it for a moment when the first one was killed.
    (profile) =>
      fs
        .remove(profile, { recursive: true })
        .pipe(Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 50 }), Effect.orDie)
  )
  const chromium = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const [program = "", ...rest] = [...by, pathOf("chromium"), ...args, `--user-data-dir=${profile}`]
      return spawn(program, [...rest, "about:blank"], {
        stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]
      })
    }),
    (chromium) =>
      Effect.promise(async () => {
        const ended = once(chromium, "exit")
        chromium.kill("SIGKILL")
        await ended
      })
  )
  const [, , , input, output] = chromium.stdio
  const answers = new Map<number, (result: unknown) => void>()
  let asked = 0
  let received = ""
  const isPipe = (stream: unknown): stream is Duplex => typeof stream === "object" && stream !== null
  if (!isPipe(input) || !isPipe(output)) {
    return yield* Effect.dieMessage("Chromium has no pipe")
  }
  output.setEncoding("utf8").on("data", (text: string) => {
    const messages = `${received}${text}`.split("\0")
    received = messages.pop() ?? ""
    for (const message of messages) {
      const { id, result } = decodeMessage(message)
      if (id !== undefined) answers.get(id)?.(result)
    }
  })
  const ask = <A, I>(method: string, params: object, schema: Schema.Schema<A, I>, sessionId?: string) =>
    Effect.async<unknown>((resume) => {
      asked += 1
      answers.set(asked, (result) => resume(Effect.succeed(result)))
      input.write(`${JSON.stringify({ id: asked, method, params, sessionId })}\0`)
    }).pipe(Effect.flatMap(Schema.decodeUnknown(schema)), Effect.orDie)
  const tell = (method: string, params: object) => Effect.asVoid(ask(method, params, Schema.Unknown))
  const attach = (targetId: string) => ask("Target.attachToTarget", { targetId, flatten: true }, Session)
  const processes = Effect.map(
    ask("SystemInfo.getProcessInfo", {}, Processes),
    ({ processInfo }) => processInfo
  )

  return {
    /** In front of all others. */
    open: (url: string) =>
      Effect.map(ask("Target.createTarget", { url }, Target), ({ targetId }) => ({
        close: tell("Target.closeTarget", { targetId }),
        /** What it says. */
        text: Effect.flatMap(attach(targetId), ({ sessionId }) =>
          ask("Runtime.evaluate", { expression: "document.documentElement.innerText" }, Evaluated, sessionId)
        ).pipe(Effect.map(({ result }) => result.value))
      })),
    /** Kills what draws the pages, as the system does where memory is short. */
    killRenderers: Effect.map(processes, (all) => {
      for (const { id, type } of all) {
        if (type === "renderer") process.kill(id, "SIGKILL")
      }
    })
  }
})
