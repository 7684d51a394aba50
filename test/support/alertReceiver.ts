/**
 * What takes the alerts of a venue: a program on a machine of its own.
 */
import { spawn } from "node:child_process"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Problem } from "../../src/services/Problem.ts"
import * as Received from "./Received.ts"

const Changed = Schema.extend(Problem, Schema.Struct({ change: Schema.String }))

const Alert = Schema.Struct({
  text: Schema.String,
  node: Schema.optional(Schema.Struct({ id: Schema.String })),
  problem: Schema.optional(Changed),
  problems: Schema.optional(Schema.Array(Changed))
})

/** One problem of one post. */
export interface Alerted {
  readonly event: "begin" | "end"
  /** The machine that has posted it. */
  readonly from: string
  readonly problem: Problem
}

const decode = Schema.decodeSync(Schema.parseJson(Alert))

const alertsIn = (text: string): ReadonlyArray<Alerted> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => decode(line))
    .flatMap(({ node, problem, problems = [] }) =>
      [...problems, ...(problem === undefined ? [] : [problem])].map(
        (problem): Alerted => ({
          event: problem.change === "over" || problem.change === "unwatched" ? "end" : "begin",
          from: node?.id ?? "",
          problem
        })
      )
    )

const port = 9000

const program = `require("node:http").createServer((request, response) => {
  let body = ""
  request.on("data", (text) => { body += text }).on("end", () => { console.log(body); response.end() })
}).listen(${port}, () => console.log(""))`

/** Until the scope ends; `by` is what starts it, at `address`. */
export const openReceiver = Effect.fnUntraced(function* (by: ReadonlyArray<string>, address: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const [start = "", ...args] = [...by, process.execPath, "-e", program]
      return spawn(start, args, { stdio: ["ignore", "pipe", "inherit"] })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const received = Received.from(child.stdout)
  const [ready] = [yield* received.until((text) => text.includes("\n"))]
  return {
    url: `http://${address}:${port}`,
    /** What is heard from now on. */
    listen: Effect.sync(() => {
      const from = Math.max(received.text().length, ready.length)
      const heard = () => alertsIn(received.text().slice(from))
      return {
        heard: Effect.sync(heard),
        /** Waits for an alert, and returns after how many seconds it was there. */
        hears: Effect.fnUntraced(function* (
          what: string,
          seconds: number,
          holds: (alert: Alerted) => boolean
        ) {
          const [took] = yield* received
            .until(() => heard().some(holds))
            .pipe(
              Effect.timeoutFail({ duration: `${seconds} seconds`, onTimeout: () => "late" as const }),
              Effect.catchAll(() =>
                Effect.dieMessage(
                  `no alert says within ${seconds} s that ${what}: ${received.text().slice(from).slice(-3000)}`
                )
              ),
              Effect.timed
            )
          return Duration.toSeconds(took)
        })
      }
    })
  }
})

export type Receiver = Effect.Effect.Success<ReturnType<typeof openReceiver>>
