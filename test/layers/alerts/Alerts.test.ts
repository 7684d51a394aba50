import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { localTime } from "../../../src/internal/readable.ts"
import * as Alerts from "../../../src/layers/alerts/Alerts.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { httpClient } from "../../support/httpClientWithoutKeepAlive.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const since = "2026-11-22T09:00:00.000Z"
const lamp = (name: string) => `The lamp ${name} is broken since ${since}.`
const time = localTime(new Date(since), 0)
/** As it is posted. */
const sentence = (name: string) => `The lamp ${name} is broken since ${time}.`

const broken = (subject: string, severity: Problem["severity"] = "warning"): Problem => ({
  code: "lamp:broken",
  severity,
  subject,
  text: lamp(subject),
  since
})

interface Posted {
  readonly text: string
  readonly event: string
  readonly standing: number
  readonly problem?: Problem & { readonly key: string; readonly change: string; readonly endedAt?: string }
  readonly problems?: ReadonlyArray<Problem & { readonly key: string; readonly change: string }>
}

/** A status with headers, the text of a successful response, or no response. */
type Answer = number | Readonly<Record<string, string>> | { readonly says: string } | "nothing"

/** A receiver on a real socket, with the posts that it has accepted and refused. */
const openReceiver = Effect.gen(function* () {
  const accepted: Array<Posted> = []
  const refused: Array<string> = []
  const headers: Array<string | undefined> = []
  const held = new Set<ServerResponse>()
  let answer: (text: string) => Answer = () => 200
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (text) => {
      body += text
    })
    request.on("end", () => {
      const json: Posted = JSON.parse(body)
      const given = answer(json.text)
      headers.push(request.headers.authorization)
      if (given === 200) accepted.push(json)
      else refused.push(json.text)
      if (given === "nothing") held.add(response)
      else if (typeof given === "object" && "says" in given) response.end(given.says)
      else if (typeof given === "number") response.writeHead(given).end()
      else response.writeHead(Number(given.status), given).end()
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const { port }: AddressInfo = Object(server.address())
  return {
    accepted,
    refused,
    headers,
    texts: () => accepted.map(({ text }) => text),
    /** Whether a request is left without a response. */
    isSilent: () => [...held].some(({ closed }) => !closed),
    url: `http://127.0.0.1:${port}/hooks/very-secret`,
    answers: (next: typeof answer) => {
      answer = next
    }
  }
})

type Receiver = Effect.Effect.Success<typeof openReceiver>

const isBusy = () =>
  process.getActiveResourcesInfo().some((name) => /^(TCPSocket|TCPConnect|FSReq)/.test(name))

/** Time passes; requests and writes end before it goes on, except those that the receiver leaves without a response. */
const passes = (
  duration: Duration.DurationInput,
  isSilent: () => boolean,
  adjust: (duration: Duration.DurationInput) => Effect.Effect<void> = TestClock.adjust
) =>
  Effect.repeatN(
    Effect.zipRight(
      adjust("5 seconds"),
      Effect.gen(function* () {
        for (let quiet = 0; quiet < 5; quiet = isBusy() && !isSilent() ? 0 : quiet + 1) yield* eventLoopTurn
      })
    ),
    Duration.toSeconds(duration) / 5 - 1
  )

/** A controller that posts to the receiver until the scope ends. */
const openController = Effect.fnUntraced(function* (
  { isSilent, url }: Receiver,
  file?: string,
  disk: Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> = Layer.service(
    FileSystem.FileSystem
  )
) {
  const controller = yield* ControllerStateMemory.make("persistent")
  const options = {
    url: Redacted.make(url),
    headers: { authorization: Redacted.make("Bearer key") },
    after: "30 seconds"
  } as const
  yield* Alerts.make(options, { id: "hall-3", label: "Hall 3" }, file).pipe(
    Effect.provide(httpClient),
    Effect.provideService(ControllerState, controller),
    Effect.provide(Layer.provideMerge(disk, NodeContext.layer))
  )
  const { addReport, updateSlice } = pluginsOf(controller)
  const stand = (...problems: ReadonlyArray<Problem>) => updateSlice("lamps", () => ({ problems }))
  return {
    ...controller,
    addReport,
    updateSlice,
    stand,
    /** These problems stand for this time. */
    lasts: (duration: Duration.DurationInput, ...problems: ReadonlyArray<Problem>) =>
      Effect.zipRight(stand(...problems), passes(duration, isSilent)),
    /** The problems of the alerts themselves. */
    problems: Effect.map(controller.state, ({ problems = [] }) =>
      problems.filter(({ code }) => code.startsWith("alerts:"))
    )
  }
})

const setUp = Effect.gen(function* () {
  const receiver = yield* openReceiver
  return { ...receiver, ...(yield* openController(receiver)) }
})

describe("an alert", () => {
  it.scoped("has the problem, its key and how many stand, and the same key at its end", () =>
    Effect.gen(function* () {
      const { accepted, headers, lasts } = yield* setUp
      yield* lasts("1 minute", broken("left"))
      yield* lasts("1 minute")
      const node = { id: "hall-3", label: "Hall 3" }
      const key = accepted[0]?.problem?.key
      expect(key).toMatch(/^[\da-f]{32}$/)
      expect(accepted).toEqual([
        {
          text: `Hall 3: ${sentence("left")}`,
          event: "begin",
          node,
          standing: 1,
          problem: { ...broken("left"), count: 1, change: "begin", key }
        },
        {
          text: `Hall 3: over: ${sentence("left")}`,
          event: "end",
          node,
          standing: 0,
          problem: { ...broken("left"), count: 1, change: "over", key, endedAt: expect.any(String) }
        }
      ])
      expect(headers).toEqual(["Bearer key", "Bearer key"])
    })
  )

  it.scoped("about several problems has a line for each", () =>
    Effect.gen(function* () {
      const { accepted, addReport, lasts, texts } = yield* setUp
      yield* addReport("dashboard", () => ({ dashboard: "http://10.0.0.5:8720" }))
      const away: Problem = { ...broken("old"), unwatched: "closed" }
      yield* lasts("1 minute", broken("old"), broken("stays"), broken("gone"))
      yield* lasts("1 minute", broken("stays"), broken("new", "error"), away)
      expect(texts()[1]?.split("\n").toSorted()).toEqual([
        " 1 other problem continues. (http://10.0.0.5:8720)",
        `- ${sentence("new")}`,
        `- no longer watched (closed): ${sentence("old")}`,
        `- over: ${sentence("gone")}`,
        expect.stringMatching(/^Hall 3: 1 \w+.*, 1 .*, 1 .*$/)
      ])
      expect(accepted[1]).toMatchObject({ event: "begin", standing: 2 })
      expect(accepted[1]?.problems?.map(({ change }) => change).toSorted()).toEqual([
        "begin",
        "over",
        "unwatched"
      ])
    })
  )

  it.scoped("calls nobody in a chat and hides no link, whatever pages and players say", () =>
    Effect.gen(function* () {
      const { accepted, lasts, texts } = yield* setUp
      const text =
        "<!channel> @everyone <https://evil.example|your.museum> [sign in](https://evil.example) & more"
      yield* lasts("1 minute", { ...broken("left"), text })
      expect(texts()).toEqual([
        "Hall 3: &lt;!channel&gt; @\u200beveryone &lt;https://evil.example|your.museum&gt; [sign in]\u200b(https://evil.example) &amp; more"
      ])
      expect(accepted).toMatchObject([{ problem: { text } }])
    })
  )

  it.scoped("is posted as soon, and with the right time of the end, if somebody sets the clock", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const { accepted, stand } = yield* setUp
        yield* set(2 * 86_400_000)
        yield* stand(broken("left"))
        yield* passes("25 seconds", () => false, adjust)
        yield* set(-86_400_000)
        expect(accepted).toHaveLength(0)
        yield* passes("15 seconds", () => false, adjust)
        expect(accepted).toHaveLength(1)
        const endedAt = yield* Clock.currentTimeMillis
        yield* stand()
        yield* passes("1 minute", () => false, adjust)
        const late = Date.parse(accepted[1]?.problem?.endedAt ?? "") - endedAt
        expect(late).toBeGreaterThanOrEqual(0)
        expect(late).toBeLessThanOrEqual(5000)
      })
    )
  )
})

describe("a receiver", () => {
  it.scoped("that redirects is not followed, and the problem has the new address without its secret", () =>
    Effect.gen(function* () {
      const { answers, lasts, problems } = yield* setUp
      answers(() => ({ status: "308", location: "https://new.example/hooks/very-secret" }))
      yield* lasts("1 minute", broken("left"))
      expect((yield* problems).map(({ text }) => text)).toEqual([
        expect.stringMatching(
          /^Alerts cannot be delivered to http:\/\/127.0.0.1:\d+, and Vitrine tries again until it works: it redirects to https:\/\/new.example, which alerts do not follow: set the new address as "url"$/
        )
      ])
    })
  )

  it.scoped("that says in a successful response that it refuses the alert has not accepted it", () =>
    Effect.gen(function* () {
      const { answers, lasts, problems, texts } = yield* setUp
      answers(() => ({ says: '{"errcode":310000,"errmsg":"no match at /hooks/very-secret"}' }))
      yield* lasts("1 minute", broken("left"))
      expect(yield* problems).toMatchObject([
        {
          code: "alerts:undelivered",
          text: expect.stringMatching(
            /until it works: it responds 200, and says: \{"errcode":310000,"errmsg":"no match at \/hooks\/<apiKey>"\}$/
          )
        }
      ])
      answers(() => ({ says: '{"errcode":0,"errmsg":"ok"}' }))
      yield* lasts("1 minute", broken("left"))
      expect([texts(), yield* problems]).toEqual([[], []])
    })
  )

  it.scoped("is asked again when its Retry-After is over, and not sooner", () =>
    Effect.gen(function* () {
      const { answers, lasts, problems, refused, texts } = yield* setUp
      answers(() => ({ status: "429", "retry-after": "60" }))
      yield* lasts("85 seconds", broken("left"))
      expect(refused).toHaveLength(1)
      expect(yield* problems).toMatchObject([{ text: expect.stringMatching(/it responds 429$/) }])
      answers(() => 200)
      yield* lasts("20 seconds", broken("left"))
      expect(texts()).toHaveLength(1)
      expect(yield* problems).toEqual([])
    })
  )

  it.scoped("that refuses one alert gets the others, and the refusal is a problem", () =>
    Effect.gen(function* () {
      const { answers, lasts, problems, texts } = yield* setUp
      answers((text) => (text.includes("\u{1F996}") ? 500 : 200))
      yield* lasts("2 minutes", broken("dino \u{1F996}"), broken("right"))
      expect(texts()).toEqual([`Hall 3: ${sentence("right")}`])
      expect(yield* problems).toMatchObject([
        {
          code: "alerts:refused",
          subject: "lamp:broken dino \u{1F996}",
          text: expect.stringMatching(/accepts other alerts, but refuses the alert ".*": it responds 500$/)
        }
      ])
      yield* lasts("2 minutes", broken("dino \u{1F996}"))
      expect(texts().slice(1)).toEqual([`Hall 3: over: ${sentence("right")}`])
      yield* lasts("1 minute")
      expect(yield* problems).toEqual([])
    })
  )

  it.scoped("that does not respond gets the alert until it accepts it", () =>
    Effect.gen(function* () {
      const { answers, lasts, refused, texts } = yield* setUp
      answers(() => "nothing")
      yield* lasts("1 minute", broken("left"))
      expect(refused.length).toBeGreaterThan(1)
      yield* lasts("19 minutes", broken("left"))
      expect(refused.length).toBeLessThan(15)
      answers(() => 200)
      yield* lasts("6 minutes")
      expect(texts()).toEqual([`Hall 3: over: ${sentence("left")}`])
    })
  )

  it.scoped("that is away is told what is true when it is back, and no secret is shown meanwhile", () => {
    const logs: Array<string> = []
    return Effect.gen(function* () {
      const { answers, lasts, problems, texts } = yield* setUp
      yield* lasts("1 minute", broken("left"), broken("right"))
      answers(() => 503)
      yield* lasts("3 minutes", broken("right"), broken("middle"))
      yield* lasts("3 minutes", broken("right", "error"))
      expect(yield* problems).toMatchObject([
        {
          code: "alerts:undelivered",
          severity: "warning",
          text: expect.stringMatching(
            /^Alerts cannot be delivered to http:\/\/127.0.0.1:\d+, and Vitrine tries again until it works: it responds 503$/
          )
        }
      ])
      answers(() => 200)
      yield* lasts("1 minute", broken("right", "error"))
      expect(texts().slice(1).join().split("\n").slice(1, -1).toSorted()).toEqual([
        `- over: ${sentence("left")}`,
        `- worse: ${sentence("right")}`
      ])
      expect(yield* problems).toEqual([])
      expect(logs).toEqual([])
    }).pipe(withLog(logs))
  })
})

it.scoped("an alert is posted although the disk hangs, on which the alerts are kept", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/alerts.json`
    const answers = yield* Effect.makeLatch(true)
    let writes = 0
    const disk = Layer.succeed(FileSystem.FileSystem, {
      ...fs,
      open: (path, options) =>
        Effect.suspend(() => {
          writes += options?.flag === "r" ? 0 : 1
          return answers.whenOpen(fs.open(path, options))
        })
    })
    const receiver = yield* openReceiver
    const { lasts } = yield* openController(receiver, file, disk)
    yield* answers.close
    yield* lasts("1 minute", broken("left"))
    yield* lasts("1 minute")
    expect(receiver.texts()).toHaveLength(2)
    expect(writes).toBe(1)
    yield* answers.open
    yield* lasts("1 minute", broken("right"))
    expect(yield* fs.readFileString(file)).toContain('"right"')
  }).pipe(Effect.provide(NodeContext.layer))
)

describe("alerts, after a restart,", () => {
  const scenario = (
    title: string,
    test: (
      run: <A, E>(
        use: (controller: Effect.Effect.Success<ReturnType<typeof openController>>) => Effect.Effect<A, E>
      ) => Effect.Effect<A, E | unknown>,
      receiver: Receiver,
      file: string
    ) => Effect.Effect<void, unknown, FileSystem.FileSystem | Scope.Scope>,
    logs: Array<string> = []
  ) =>
    it.scoped(title, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* fs.makeTempDirectoryScoped()}/alerts.json`
        const receiver = yield* openReceiver
        yield* test(
          (use) => Effect.scoped(Effect.flatMap(openController(receiver, file), use)),
          receiver,
          file
        )
      }).pipe(withLog(logs), Effect.provide(NodeContext.layer))
    )

  scenario("go on where they were", (run, { texts }, file) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* run(({ lasts }) => lasts("1 minute", broken("left")))
      expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      yield* run(({ lasts }) => lasts("2 minutes", broken("left")))
      expect(texts()).toHaveLength(1)
      yield* run(({ lasts }) => Effect.zipRight(lasts("10 seconds", broken("left")), lasts("1 minute")))
      expect(texts().slice(1)).toEqual([`Hall 3: over: ${sentence("left")}`])
      yield* run(({ lasts }) => lasts("2 minutes"))
      expect(texts()).toHaveLength(2)
    })
  )

  scenario(
    "wait until its plugin has judged a problem, and post nothing if it continues",
    (run, { isSilent, texts }) =>
      Effect.gen(function* () {
        yield* run(({ lasts }) => lasts("1 minute", broken("left")))
        yield* run(({ lasts, state }) =>
          Effect.gen(function* () {
            yield* passes("1 minute", isSilent)
            expect((yield* state).problems).toMatchObject([
              { subject: "left", since, unwatched: "not judged since the restart" }
            ])
            yield* lasts("2 minutes", broken("left"))
            expect((yield* state).problems).toEqual([{ ...broken("left"), count: 1 }])
          })
        )
        expect(texts()).toHaveLength(1)
      })
  )

  scenario("post the end of a problem that its plugin has not found", (run, { isSilent, texts }) =>
    Effect.gen(function* () {
      yield* run(({ lasts }) => lasts("1 minute", broken("left")))
      yield* run(({ lasts }) => Effect.zipRight(passes("1 minute", isSilent), lasts("1 minute")))
      expect(texts().slice(1)).toEqual([`Hall 3: over: ${sentence("left")}`])
    })
  )

  scenario(
    "post once, after ten minutes, that a plugin is no longer configured",
    (run, { isSilent, texts }) =>
      Effect.gen(function* () {
        yield* run(({ lasts }) => lasts("1 minute", broken("left")))
        yield* run(() =>
          Effect.gen(function* () {
            yield* passes("10 minutes", isSilent)
            expect(texts()).toHaveLength(1)
            yield* passes("1 minute", isSilent)
            expect(texts().slice(1)).toEqual([
              `Hall 3: no longer watched (not configured): ${sentence("left")}`
            ])
          })
        )
        yield* run(({ state }) =>
          Effect.gen(function* () {
            yield* passes("15 minutes", isSilent)
            expect((yield* state).problems).toEqual([])
          })
        )
        expect(texts()).toHaveLength(2)
      })
  )

  scenario("are there again if the place was closed meanwhile", (run, { isSilent, texts }) =>
    Effect.gen(function* () {
      yield* run(({ lasts }) => lasts("1 minute", broken("left")))
      const closes = (controller: { readonly addReport: ReturnType<typeof pluginsOf>["addReport"] }) =>
        controller.addReport("lamps", () => ({ unwatched: () => "closed" }))
      yield* run((controller) => Effect.zipRight(closes(controller), passes("11 minutes", isSilent)))
      yield* run((controller) => Effect.zipRight(closes(controller), passes("11 minutes", isSilent)))
      yield* run(({ lasts }) => lasts("1 minute", broken("left")))
      expect(texts().slice(1)).toEqual([
        `Hall 3: no longer watched (closed): ${sentence("left")}`,
        `Hall 3: there again: ${sentence("left")}`
      ])
    })
  )

  scenario("do not post the end of a problem that is muted", (run, { texts }) =>
    Effect.gen(function* () {
      yield* run(({ lasts }) => lasts("1 minute", broken("left")))
      const mutes = [{ name: "left", until: "2026-11-25T18:00:00.000Z", by: "anna" }]
      yield* run(({ lasts, updateSlice }) =>
        Effect.zipRight(
          updateSlice("mutes", () => ({ kind: "mutes", mutes })),
          lasts("2 minutes")
        )
      )
      expect(texts()).toHaveLength(1)
    })
  )

  const logs: Array<string> = []
  scenario(
    "log that the file cannot be used, and post problems that begin",
    (run, { texts }, file) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(file, "[{}]")
        yield* run(({ lasts }) => lasts("1 minute", broken("left")))
        expect(texts()).toHaveLength(1)
        expect(logs.join()).toContain(
          "cannot be read, and the ends of problems before the restart are not posted"
        )
        expect(yield* fs.readFileString(file)).toContain('"left"')
      }),
    logs
  )
})
