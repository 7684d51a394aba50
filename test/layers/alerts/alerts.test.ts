import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as Alerts from "../../../src/layers/alerts/alerts.ts"
import type { ProblemChange, StandingProblems } from "../../../src/layers/alerts/problemChanges.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { withLog } from "../../support/logged.ts"

const since = "2026-11-22T09:00:00.000Z"

const broken = (code: string, severity: Problem["severity"] = "warning"): Problem => ({
  code,
  severity,
  text: `The lamp ${code} is broken.`,
  since
})

const begin = (code: string, severity?: Problem["severity"]): ProblemChange => ({
  _tag: "Begin",
  isWorse: false,
  key: code,
  problem: broken(code, severity)
})

const end = (code: string): ProblemChange => ({
  _tag: "End",
  key: code,
  problem: broken(code),
  endedAt: since
})

/** The body of an answer whose status says all. */
const endless = () => new ReadableStream<Uint8Array>()

/** A receiver that responds with a status, to certain texts with another one or late, and the texts that it has taken. */
const receiver = () => {
  const texts: Array<string> = []
  const bodies: Array<unknown> = []
  let status = 200
  let only = ""
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const json: { readonly text: string } = JSON.parse(body)
      yield* Effect.sleep(json.text.includes("slow") ? "8 seconds" : 0)
      const responds = json.text.includes(only) ? status : 200
      if (responds === 200) {
        texts.push(json.text)
        bodies.push({ authorization: request.headers.authorization, json })
      }
      return HttpClientResponse.fromWeb(request, new Response(endless(), { status: responds }))
    })
  )
  const respond = (next: number, to = "") => {
    status = next
    only = to
  }
  return { bodies, client, respond, texts }
}

const options = {
  url: Redacted.make("https://chat.example/hooks/very-secret"),
  headers: { authorization: Redacted.make("Bearer key") },
  after: "2 minutes" as const
}

const setUp = Effect.gen(function* () {
  const hook = receiver()
  const take = yield* Effect.provideService(
    Alerts.make(options, { id: "hall-3", label: "Hall 3" }),
    HttpClient.HttpClient,
    hook.client
  )
  const found = (changes: ReadonlyArray<ProblemChange>, standing: StandingProblems = new Map()) =>
    take({ changes, standing })
  return { ...hook, take: found }
})

describe("alerts", () => {
  it.scoped("are posted when a problem has gone on for long enough, and when it is over", () =>
    Effect.gen(function* () {
      const { bodies, take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("119 seconds")
      expect(texts).toEqual([])
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("10 minutes")
      expect(bodies).toEqual([
        {
          authorization: "Bearer key",
          json: {
            text: "Hall 3: The lamp left is broken.",
            event: "begin",
            node: { id: "hall-3", label: "Hall 3" },
            problem: broken("left")
          }
        }
      ])
      yield* take([end("left")])
      yield* TestClock.adjust("10 minutes")
      expect(texts.slice(1)).toEqual(["Hall 3: over: The lamp left is broken."])
    })
  )

  it.scoped("have the words of the moment at which they are posted", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("1 minute")
      yield* take([], new Map([["left", { ...broken("left"), text: "The left lamp is gone." }]]))
      yield* TestClock.adjust("2 minutes")
      expect(texts).toEqual(["Hall 3: The left lamp is gone."])
    })
  )

  it.scoped("say nothing of a problem that is soon over", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("1 minute")
      yield* take([end("left")])
      yield* TestClock.adjust("10 minutes")
      expect(texts).toEqual([])
    })
  )

  it.scoped("say nothing again of a problem that comes back before its end is delivered", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("3 minutes")
      yield* take([end("left"), begin("left")])
      yield* TestClock.adjust("10 minutes")
      expect(texts).toEqual(["Hall 3: The lamp left is broken."])
    })
  )

  it.scoped("are posted again when a warning becomes an error", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("3 minutes")
      yield* take([begin("left", "error")])
      yield* TestClock.adjust("1 minute")
      expect(texts).toHaveLength(2)
    })
  )

  it.scoped("reach a receiver that was away with the end of what had become worse meanwhile", () =>
    Effect.gen(function* () {
      const { respond, take, texts } = yield* setUp
      yield* take([begin("left"), begin("right")])
      yield* TestClock.adjust("3 minutes")
      respond(503)
      yield* take([end("left")])
      yield* TestClock.adjust("1 minute")
      yield* take([begin("right", "error")])
      yield* TestClock.adjust("1 minute")
      yield* take([end("right")])
      yield* TestClock.adjust("1 minute")
      respond(200)
      yield* TestClock.adjust("1 minute")
      expect(texts.slice(2).sort()).toEqual([
        "Hall 3: over: The lamp left is broken.",
        "Hall 3: over: The lamp right is broken."
      ])
    })
  )

  it.scoped("are posted with the ends first", () =>
    Effect.gen(function* () {
      const { respond, take, texts } = yield* setUp
      yield* take([begin("left"), begin("right")])
      yield* TestClock.adjust("3 minutes")
      respond(503)
      yield* take([begin("left", "error"), end("right")])
      yield* TestClock.adjust("1 minute")
      respond(200)
      yield* TestClock.adjust("1 minute")
      expect(texts.slice(2)).toEqual([
        "Hall 3: over: The lamp right is broken.",
        "Hall 3: The lamp left is broken."
      ])
    })
  )

  it.scoped("do not wait for one that the receiver refuses, which then has no end", () =>
    Effect.gen(function* () {
      const { respond, take, texts } = yield* setUp
      respond(400, "left")
      yield* take([begin("left"), begin("right")])
      yield* TestClock.adjust("3 minutes")
      yield* take([end("left"), end("right")])
      respond(200)
      yield* TestClock.adjust("1 minute")
      expect(texts).toEqual(["Hall 3: The lamp right is broken.", "Hall 3: over: The lamp right is broken."])
    })
  )

  it.scoped("say nothing of a problem that is over while another one is posted", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("slow"), begin("right")])
      yield* TestClock.adjust("125 seconds")
      yield* take([end("right")])
      yield* TestClock.adjust("10 minutes")
      expect(texts).toEqual(["Hall 3: The lamp slow is broken."])
    })
  )

  it.scoped("are posted again for a problem that comes back while its end is posted", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take([begin("slow")])
      yield* TestClock.adjust("3 minutes")
      yield* take([end("slow")])
      yield* TestClock.adjust("6 seconds")
      yield* take([begin("slow")])
      yield* TestClock.adjust("1 minute")
      expect(texts).toEqual([
        "Hall 3: The lamp slow is broken.",
        "Hall 3: over: The lamp slow is broken.",
        "Hall 3: The lamp slow is broken."
      ])
    })
  )

  it.scoped(
    "reach a receiver that was away, ends too, and the log says once what is wrong, without the address",
    () => {
      const logs: Array<string> = []
      return Effect.gen(function* () {
        const { respond, take, texts } = yield* setUp
        yield* take([begin("left"), begin("right")])
        yield* TestClock.adjust("3 minutes")
        expect(texts).toHaveLength(2)
        respond(503)
        yield* take([end("left"), begin("middle")])
        yield* TestClock.adjust("10 minutes")
        yield* take([end("middle"), end("right")])
        yield* TestClock.adjust("10 minutes")
        respond(200)
        yield* TestClock.adjust("2 minutes")
        expect(texts.slice(2).sort()).toEqual([
          "Hall 3: over: The lamp left is broken.",
          "Hall 3: over: The lamp right is broken."
        ])
        expect(logs).toEqual([
          "WARN Alerts cannot be delivered to https://chat.example, and are tried again until they can: it responds 503"
        ])
      }).pipe(withLog(logs))
    }
  )
})
