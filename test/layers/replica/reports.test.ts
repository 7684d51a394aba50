/**
 * A replica that reports over a real socket. Tests without sockets are in `fleet/SendReports.test.ts`.
 */
import { text } from "node:stream/consumers"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import { vitrineVersion } from "../../../src/internal/machine.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { PlayerReport } from "../../../src/services/PlayerReport.ts"
import { contentState } from "../../support/content.ts"
import { makeHub } from "../../support/hub.ts"
import { first, makeReplica } from "../../support/replica.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { scenarios } from "../../support/scenario.ts"
import { eventually } from "../../support/waiting.ts"

const services = Layer.merge(NodeContext.layer, HttpClientNode.layer)
const live = scenarios(services, Effect.void, { isLive: true })

const decode = Schema.decodeUnknownSync(Schema.parseJson(PlayerReport))

/** A server that answers reports with `answer`, and the reports it received. */
const receiver = Effect.fnUntraced(function* (answer: ScriptedServer.Answer) {
  const reports = yield* Queue.unbounded<PlayerReport>()
  const server = yield* ScriptedServer.make((response, request) => {
    text(response.req).then((body) => {
      reports.unsafeOffer(decode(body))
      answer(response, request)
    })
  })
  return { ...server, reports }
})

const takes = ScriptedServer.json(200, { vitrine: vitrineVersion })

describe("a replica", () => {
  live("reports what it has copied", function* () {
    const hub = yield* makeHub
    const versionId = yield* hub.promote(first)
    const { received, reports, url } = yield* receiver(takes)
    const report = { to: url, token: "very-secret" }
    const { fetchLive, provided, start } = yield* makeReplica(hub.url, { mode: "persistent", report })
    yield* start
    expect(yield* Queue.take(received)).toMatchObject({
      method: "POST",
      url: "/vitrine/reports",
      headers: { authorization: "Bearer very-secret" }
    })
    yield* fetchLive
    const isShown = Effect.map(Queue.take(reports), (report) => report.versionId === versionId)
    yield* eventually(isShown)
    yield* eventually(Effect.map(provided(contentState), ({ reports }) => reports?.takenAt !== undefined))
    const { reports: state } = yield* provided(contentState)
    expect(state).toEqual({ to: `${url}/`, takenAt: expect.any(String), vitrine: vitrineVersion })
  })

  live("does not follow redirects of the hub for its reports", function* () {
    const other = yield* receiver(takes)
    const { url } = yield* receiver((response) => response.writeHead(307, { location: other.url }).end())
    const report = { to: url, token: "very-secret" }
    const hub = yield* makeHub
    const { log, provided, start } = yield* makeReplica(hub.url, { mode: "persistent", report })
    yield* start
    yield* eventually(Effect.map(provided(contentState), ({ reports }) => reports?.problem !== undefined))
    expect(yield* Queue.size(other.received)).toBe(0)
    const warnings = log.filter((line) => line.startsWith("WARN Reports"))
    expect(warnings).toEqual([
      `WARN Reports are not accepted by ${url}/, and are sent again until they are: ${url} redirects to ${other.url}, which reports do not follow: set the address of the hub itself in "report"`
    ])
  })

  live("reports nothing in task mode", function* () {
    const hub = yield* makeHub
    yield* hub.promote(first)
    const { received, url } = yield* receiver(takes)
    const { fetchLive, provided } = yield* makeReplica(hub.url, { report: { to: url, token: "t" } })
    yield* fetchLive
    expect((yield* provided(contentState)).reports).toBeUndefined()
    expect(yield* Queue.size(received)).toBe(0)
  })
})
