import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { localTime } from "../../../src/internal/readable.ts"
import type { AlertOptions } from "../../../src/layers/alerts/AlertOptions.ts"
import * as Alerts from "../../../src/layers/alerts/Alerts.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { foundProblems } from "../../support/foundProblems.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const since = "2026-11-22T09:00:00.000Z"

const lamp = (code: string) => `The lamp ${code} is broken.`

const broken = (code: string, severity: Problem["severity"] = "warning"): Problem => ({
  code,
  severity,
  text: lamp(code),
  since
})

/** A problem with this key, or none if it has ended. */
type Change = readonly [key: string, problem?: Problem]

const begin = (code: string, severity?: Problem["severity"]): Change => [code, broken(code, severity)]
const end = (code: string): Change => [code]

/** A body that never ends, for an answer of which only the status matters. */
const endless = () => new ReadableStream<Uint8Array>()

/**
 * A receiver that answers with a status, and to certain texts with another status or late; and the texts it accepted.
 */
const receiver = () => {
  const texts: Array<string> = []
  const bodies: Array<unknown> = []
  const refused: Array<string> = []
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
      } else {
        refused.push(json.text)
      }
      const response = new Response(endless(), { status: responds })
      if (responds === 308) response.headers.set("location", "https://new.example/hooks/very-secret")
      if (responds === 429) response.headers.set("retry-after", "60")
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  const respond = (next: number, to = "") => {
    status = next
    only = to
  }
  /** How often it refused a text. */
  const refusals = () =>
    Object.fromEntries(
      [...new Set(refused)].map((text) => [text, refused.filter((one) => one === text).length])
    )
  return { bodies, client, refusals, respond, texts }
}

type Receiver = ReturnType<typeof receiver>

const options: AlertOptions = {
  url: Redacted.make("https://chat.example/hooks/very-secret"),
  headers: { authorization: Redacted.make("Bearer key") },
  after: "2 minutes"
}

const setUpWith = Effect.fnUntraced(function* (
  given: AlertOptions,
  file?: string,
  hook: Receiver = receiver()
) {
  const controller = yield* ControllerStateMemory.make("persistent")
  const take = yield* Alerts.make(given, { id: "hall-3", label: "Hall 3" }, file).pipe(
    Effect.provideService(HttpClient.HttpClient, hook.client),
    Effect.provideService(ControllerState, controller),
    Effect.provide(NodeContext.layer)
  )
  const last = yield* Ref.make<ReadonlyMap<string, Problem>>(new Map())
  const found = Effect.fnUntraced(function* (changes: ReadonlyArray<Change>) {
    const before = yield* Ref.get(last)
    const changed = new Set(changes.map(([key]) => key))
    const standing = new Map([
      ...[...before].filter(([key]) => !changed.has(key)),
      ...changes.flatMap(([key, problem]) => (problem === undefined ? [] : [[key, problem] as const]))
    ])
    yield* Ref.set(last, standing)
    yield* take(foundProblems(before, standing, yield* Clock.currentTimeMillis))
  })
  const { addReading, updateSlice } = pluginsOf(controller)
  return {
    ...hook,
    addReading,
    updateSlice,
    problems: Effect.map(controller.state, ({ problems = [] }) => problems),
    take: found
  }
})

const setUp = setUpWith(options)

const silent = (player: string): Change => [
  player,
  {
    code: "player:silent",
    severity: "error",
    subject: player,
    text: `Player ${player} last reported at ${since}`,
    since
  }
]

const time = localTime(new Date(since), 0)

it.scoped("an alert has the address of the dashboard", () =>
  Effect.gen(function* () {
    const { addReading, bodies, take, texts } = yield* setUp
    yield* addReading("dashboard", () => ({ dashboard: "http://10.0.0.5:8720" }))
    yield* take([begin("left")])
    yield* TestClock.adjust("3 minutes")
    expect(texts).toEqual(["Hall 3: The lamp left is broken. (http://10.0.0.5:8720)"])
    expect(bodies).toMatchObject([{ json: { dashboard: "http://10.0.0.5:8720" } }])
  })
)

describe("alerts of one cause", () => {
  it.scoped("are one message when three or more begin within a minute, and one when they end", () =>
    Effect.gen(function* () {
      const { bodies, take, texts } = yield* setUp
      yield* take([silent("a")])
      yield* TestClock.adjust("50 seconds")
      yield* take([silent("b"), silent("c"), begin("left")])
      yield* TestClock.adjust("119 seconds")
      expect(texts).toEqual([])
      yield* TestClock.adjust("10 seconds")
      expect(texts.toSorted()).toEqual([
        `Hall 3: 3 players silent since ${time}: a, b, c`,
        "Hall 3: The lamp left is broken."
      ])
      expect(bodies).toContainEqual({
        authorization: "Bearer key",
        json: expect.objectContaining({
          event: "begin",
          problems: [silent("a")[1], silent("b")[1], silent("c")[1]]
        })
      })
      yield* take([end("c")])
      yield* TestClock.adjust("50 seconds")
      yield* take([end("a")])
      expect(texts).toHaveLength(2)
      yield* take([end("b")])
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("5 minutes")
      expect(texts.slice(2)).toEqual([`Hall 3: over: 3 players silent since ${time}: c, a, b`])
    })
  )

  it.scoped("call nobody in a chat and hide no link, whatever pages and players say", () =>
    Effect.gen(function* () {
      const { bodies, take, texts } = yield* setUp
      const text =
        "<!channel> @everyone <https://evil.example|your.museum> [sign in](https://evil.example) & more"
      yield* take([["left", { ...broken("left"), text }]])
      yield* TestClock.adjust("3 minutes")
      expect(texts).toEqual([
        "Hall 3: &lt;!channel&gt; @\u200beveryone &lt;https://evil.example|your.museum&gt; [sign in]\u200b(https://evil.example) &amp; more"
      ])
      expect(bodies).toMatchObject([{ json: { problem: { text } } }])
      yield* take([end("left"), ...["<!here>", "@b", "c"].map(silent)])
      yield* TestClock.adjust("5 minutes")
      expect(texts[2]).toMatch(/: 3 players silent since .*: &lt;!here&gt;, @\u200bb, c$/)
    })
  )

  it.scoped("name twenty, and count the others", () =>
    Effect.gen(function* () {
      const { take, texts } = yield* setUp
      yield* take(Array.from({ length: 22 }, (_, index) => silent(`p${index}`)))
      yield* TestClock.adjust("3 minutes")
      expect(texts).toHaveLength(1)
      expect(texts[0]).toMatch(/: 22 players silent since .*: p0, .*, p19 and 2 more$/)
    })
  )
})

describe("alerts", () => {
  it.scoped('are posted when a problem has lasted for "after", and when it ends', () =>
    Effect.gen(function* () {
      const { bodies, take, texts } = yield* setUp
      yield* take([begin("left")])
      yield* TestClock.adjust("119 seconds")
      expect(texts).toEqual([])
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("5 minutes")
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
      yield* TestClock.adjust("5 minutes")
      expect(texts.slice(1)).toEqual(["Hall 3: over: The lamp left is broken."])
    })
  )

  it.scoped("are posted as soon, and with the right time of the end, if somebody sets the clock", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const day = 86_400_000
        yield* set(2 * day)
        const { bodies, take, texts } = yield* setUp
        yield* take([begin("left")])
        yield* set(-day)
        yield* adjust("119 seconds")
        expect(texts).toEqual([])
        yield* adjust("10 seconds")
        expect(texts).toHaveLength(1)
        yield* take([begin("right")])
        yield* set(2 * day)
        yield* adjust("1 minute")
        expect(texts).toHaveLength(1)
        yield* take([end("left"), end("right")])
        const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
        yield* adjust("5 minutes")
        expect(bodies.slice(1)).toMatchObject([{ json: { event: "end", problem: { endedAt } } }])
      })
    )
  )

  /** Changes that are found, time that passes, or how the receiver responds from then on. */
  type Step =
    | ReadonlyArray<Change>
    | "6 seconds"
    | `${number} minutes`
    | { readonly status: number; readonly to?: string }

  const worse = begin("left", "error")

  it.scoped.each<readonly [string, ReadonlyArray<Step>, ReadonlyArray<string>]>([
    [
      "have the text of the problem at the time of the post",
      [[begin("left")], "1 minutes", [["left", { ...broken("left"), text: "It is gone." }]], "2 minutes"],
      ["It is gone."]
    ],
    [
      "are not posted for a problem that ends soon",
      [[begin("left")], "1 minutes", [end("left")], "5 minutes"],
      []
    ],
    [
      "are not posted again for a problem that comes back before its end is delivered",
      [[begin("left")], "3 minutes", [end("left"), begin("left")], "5 minutes"],
      [lamp("left")]
    ],
    [
      "are posted again when a warning becomes an error",
      [[begin("left")], "3 minutes", [worse], "1 minutes"],
      [lamp("left"), lamp("left")]
    ],
    [
      "reach an unavailable receiver later with the end of a problem that became worse meanwhile",
      [
        [begin("right"), begin("left")],
        "3 minutes",
        { status: 503 },
        [end("right")],
        "1 minutes",
        [worse],
        "1 minutes",
        [end("left")],
        "1 minutes",
        { status: 200 },
        "1 minutes"
      ],
      [lamp("right"), lamp("left"), `over: ${lamp("right")}`, `over: ${lamp("left")}`]
    ],
    [
      "are posted with the ends first",
      [
        [begin("left"), begin("right")],
        "3 minutes",
        { status: 503 },
        [worse, end("right")],
        "1 minutes",
        { status: 200 },
        "1 minutes"
      ],
      [lamp("left"), lamp("right"), `over: ${lamp("right")}`, lamp("left")]
    ],
    [
      "do not wait for an alert that the receiver refuses, whose end is not posted",
      [
        { status: 400, to: "left" },
        [begin("left"), begin("right")],
        "3 minutes",
        [end("left"), end("right")],
        { status: 200 },
        "1 minutes"
      ],
      [lamp("right"), `over: ${lamp("right")}`]
    ],
    [
      "are not posted for a problem that ends while another one is posted",
      [[begin("slow"), begin("right")], "2 minutes", "6 seconds", [end("right")], "5 minutes"],
      [lamp("slow")]
    ],
    [
      "are posted again for a problem that comes back while its end is posted",
      [[begin("slow")], "3 minutes", [end("slow")], "6 seconds", [begin("slow")], "3 minutes"],
      [lamp("slow"), `over: ${lamp("slow")}`, lamp("slow")]
    ]
  ])("%s", ([, steps, posted]) =>
    Effect.gen(function* () {
      const { respond, take, texts } = yield* setUp
      for (const step of steps) {
        if (typeof step === "string") yield* TestClock.adjust(step)
        else if ("status" in step) respond(step.status, step.to)
        else yield* take(step)
      }
      expect(texts).toEqual(posted.map((text) => `Hall 3: ${text}`))
    })
  )

  it.scoped("do not follow a redirect, and the problem has the new address", () =>
    Effect.gen(function* () {
      const { problems, respond, take } = yield* setUp
      respond(308)
      yield* take([begin("left")])
      yield* TestClock.adjust("3 minutes")
      expect((yield* problems).map(({ text }) => text)).toEqual([
        'Alerts cannot be delivered to https://chat.example, and Vitrine tries again until it works: it redirects to https://new.example, which alerts do not follow: set the new address as "url"'
      ])
    })
  )

  it.scoped("are posted again when the receiver asked for it, and not sooner", () =>
    Effect.gen(function* () {
      const { problems, refusals, respond, take, texts } = yield* setUp
      respond(429)
      yield* take([begin("left")])
      yield* TestClock.adjust("130 seconds")
      yield* TestClock.adjust("50 seconds")
      expect(refusals()).toEqual({ "Hall 3: The lamp left is broken.": 1 })
      expect(yield* problems).toMatchObject([{ text: expect.stringMatching(/it responds 429$/) }])
      respond(200)
      yield* TestClock.adjust("20 seconds")
      expect(texts).toEqual(["Hall 3: The lamp left is broken."])
      expect(yield* problems).toEqual([])
    })
  )

  it.scoped("are no longer undelivered once the refused alert has ended", () =>
    Effect.gen(function* () {
      const { problems, respond, take } = yield* setUp
      respond(400, "left")
      yield* take([begin("left")])
      yield* TestClock.adjust("3 minutes")
      expect(yield* problems).toMatchObject([{ code: "alerts:undelivered" }])
      yield* take([end("left")])
      yield* TestClock.adjust("1 minute")
      expect(yield* problems).toEqual([])
    })
  )

  it.scoped(
    "are given up after some tries if the receiver refuses the end, as if it refuses the beginning",
    () =>
      Effect.gen(function* () {
        const { problems, refusals, respond, take, texts } = yield* setUp
        yield* take([begin("left")])
        yield* TestClock.adjust("3 minutes")
        respond(400)
        yield* take([end("left"), begin("right")])
        yield* TestClock.adjust("10 minutes")
        expect(refusals()).toEqual({
          "Hall 3: over: The lamp left is broken.": 12,
          "Hall 3: The lamp right is broken.": 12
        })
        expect(yield* problems).toMatchObject([
          { code: "alerts:undelivered", text: expect.stringContaining("it responds 400") }
        ])
        respond(200)
        yield* take([begin("right", "error")])
        yield* TestClock.adjust("1 minute")
        yield* take([end("right")])
        yield* TestClock.adjust("1 minute")
        expect(texts.slice(1)).toEqual([
          "Hall 3: The lamp right is broken.",
          "Hall 3: over: The lamp right is broken."
        ])
        expect(yield* problems).toEqual([])
      })
  )

  it.scoped(
    "reach an unavailable receiver later, which is a problem meanwhile that shows no secret and is not posted",
    () => {
      const logs: Array<string> = []
      return Effect.gen(function* () {
        const { problems, respond, take, texts } = yield* setUp
        yield* take([begin("left"), begin("right")])
        yield* TestClock.adjust("3 minutes")
        expect(texts).toHaveLength(2)
        expect(yield* problems).toEqual([])
        respond(503)
        yield* take([end("left"), begin("middle")])
        yield* TestClock.adjust("10 minutes")
        yield* take([end("middle"), end("right")])
        yield* TestClock.adjust("10 minutes")
        const undelivered = yield* problems
        yield* take(undelivered.map((problem): Change => ["undelivered", problem]))
        yield* TestClock.adjust("10 minutes")
        expect(undelivered).toMatchObject([
          {
            code: "alerts:undelivered",
            severity: "warning",
            subject: "https://chat.example",
            text: "Alerts cannot be delivered to https://chat.example, and Vitrine tries again until it works: it responds 503",
            count: 1
          }
        ])
        respond(200)
        yield* TestClock.adjust("2 minutes")
        expect(texts.slice(2).sort()).toEqual([
          "Hall 3: over: The lamp left is broken.",
          "Hall 3: over: The lamp right is broken."
        ])
        expect(yield* problems).toEqual([])
        expect(logs).toEqual([])
      }).pipe(withLog(logs))
    }
  )
})

describe("alerts, after a restart,", () => {
  const isWriting = () => process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"))

  /** Waits for the file of alerts: a write takes turns of the event loop, and more of them on a busy machine. */
  const settled = Effect.gen(function* () {
    for (let quiet = 0; quiet < 20; quiet = isWriting() ? 0 : quiet + 1) yield* eventLoopTurn
  })

  const minutes = (count: number) =>
    Effect.repeatN(Effect.zipRight(TestClock.adjust("15 seconds"), settled), count * 4 - 1)

  const scenario = (
    title: string,
    test: (
      run: (
        changes: ReadonlyArray<Change>,
        duration: number,
        test?: (
          controller: Effect.Effect.Success<ReturnType<typeof setUpWith>>
        ) => Effect.Effect<void, unknown, Scope.Scope>
      ) => Effect.Effect<void, unknown>,
      hook: Receiver,
      file: string
    ) => Effect.Effect<void, unknown, FileSystem.FileSystem>,
    logs: Array<string> = []
  ) =>
    it.scoped(title, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* fs.makeTempDirectoryScoped()}/alerts.json`
        const hook = receiver()
        yield* test(
          (changes, duration, test = () => Effect.void) =>
            Effect.gen(function* () {
              const controller = yield* setUpWith(options, file, hook)
              yield* test(controller)
              yield* Effect.forEach(
                Array.from({ length: duration }, (_, minute) => minute),
                () => Effect.zipRight(controller.take(changes), minutes(1)),
                { discard: true }
              )
            }).pipe(Effect.scoped),
          hook,
          file
        )
      }).pipe(withLog(logs), Effect.provide(NodeContext.layer))
    )

  scenario("post the end of a problem that was posted before it", (run, { texts }, file) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* run([begin("left"), begin("right")], 3)
      expect(texts).toHaveLength(2)
      expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      yield* run([begin("right")], 6)
      expect(texts.slice(2)).toEqual(["Hall 3: over: The lamp left is broken."])
      yield* run([begin("right")], 6)
      expect(texts).toHaveLength(3)
    })
  )

  scenario("post an end that was not delivered before it", (run, { respond, texts }) =>
    Effect.gen(function* () {
      yield* run([begin("left")], 3)
      respond(503)
      yield* run([], 6)
      respond(200)
      yield* run([], 6)
      expect(texts.slice(1)).toEqual(["Hall 3: over: The lamp left is broken."])
    })
  )

  scenario("post nothing about a problem that is found again a few minutes later", (run, { texts }) =>
    Effect.gen(function* () {
      yield* run([begin("left")], 3)
      yield* run([begin("left")], 6, ({ take }) => Effect.zipRight(take([]), minutes(4)))
      expect(texts).toEqual(["Hall 3: The lamp left is broken."])
    })
  )

  scenario("post no end because the clock was wrong at the start", (run, { texts }) =>
    Effect.gen(function* () {
      yield* run([begin("left")], 3)
      yield* run([begin("left")], 1, ({ take }) =>
        Effect.zipRight(
          withJumpingClock(({ set }) => Effect.zipRight(set(86_400_000), take([]))),
          minutes(1)
        )
      )
      expect(texts).toEqual(["Hall 3: The lamp left is broken."])
    })
  )

  scenario("do not post the end of a problem that is muted", (run, { texts }) =>
    Effect.gen(function* () {
      yield* run([["left", { ...broken("left"), subject: "left" }]], 3)
      const mutes = [{ name: "left", until: "2026-11-25T18:00:00.000Z", by: "anna" }]
      yield* run([], 6, ({ updateSlice }) => updateSlice("mutes", () => ({ kind: "mutes", mutes })))
      expect(texts).toHaveLength(1)
    })
  )

  const logs: Array<string> = []
  scenario(
    "log that the file cannot be used, and post problems that begin",
    (run, { texts }, file) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(file, "[{}]")
        yield* run([begin("left")], 3)
        expect(texts).toHaveLength(1)
        expect(logs.join()).toContain(
          "cannot be read, and the ends of problems before the restart are not posted"
        )
        expect(yield* fs.readFileString(file)).toContain('"left"')
      }),
    logs
  )
})
