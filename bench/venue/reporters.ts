/**
 * Players that report to a hub, with the schedule and the code of a replica.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as PostReport from "#dist/layers/fleet/PostReport.js"
import * as HttpClient from "#dist/layers/httpClient/HttpClientNode.js"
import { type PlayerReport, reportEvery } from "#dist/services/PlayerReport.js"
import { answer } from "../processes.ts"
import { type CrowdApi, reportsToken } from "./protocol.ts"

let requests = 0
let failed = 0

const startTime = new Date().toISOString()

/** With four screens, about one KiB of JSON. */
const report = (id: string): PlayerReport => ({
  vitrine: "0.0.0",
  sentAt: new Date().toISOString(),
  node: { id, label: `Player ${id}`, role: "player" },
  host: `${id}.museum.example`,
  runId: `${process.pid} ${id}`,
  startTime,
  versionId: "20261123T080000Z",
  activeSince: startTime,
  freeDisk: 12_000_000_000 + requests,
  problems: [
    {
      code: "screen:behind",
      severity: "warning",
      subject: "left",
      text: `Screen left has been behind since ${startTime}: it still shows version 20261123T070000Z`,
      since: startTime,
      count: 1
    }
  ],
  screens: ["left", "right", "floor", "ceiling"].map((screen) => ({
    id: `${id}-${screen}`,
    label: `The ${screen} one`,
    word: "showing",
    since: startTime,
    versionId: "20261123T080000Z"
  })),
  warnings: [`${startTime} WARN A connection was not accepted: too many open files`]
})

const player = (port: number, id: string) =>
  Effect.gen(function* () {
    const to = `http://127.0.0.1:${port}/`
    const { post } = yield* PostReport.make({ to, token: Redacted.make(reportsToken) })
    const once = Effect.match(
      Effect.suspend(() => post(report(id))),
      {
        onFailure: () => {
          failed++
        },
        onSuccess: () => {
          requests++
        }
      }
    )
    const pause = Effect.flatMap(Random.nextIntBetween(0.8 * reportEvery, reportEvery + 1), Effect.sleep)
    yield* Effect.zipRight(
      Effect.flatMap(Random.nextIntBetween(0, reportEvery), Effect.sleep),
      Effect.forever(Effect.zipRight(once, pause))
    )
  }).pipe(Effect.provide(HttpClient.layer))

answer<CrowdApi>({
  start: ({ machines, port }) => {
    Effect.runFork(
      Effect.all(
        Array.from({ length: machines }, (_, index) => player(port, `p${process.pid}-${index}`)),
        { concurrency: "unbounded" }
      )
    )
  },
  requests: () => {
    const counted = { requests, failed }
    requests = 0
    failed = 0
    return counted
  }
})
