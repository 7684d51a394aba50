/**
 * Machines that ask a hub for its manifest, with the client, the schedule and the code of a replica.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as schedules from "#dist/internal/Schedules.js"
import * as HttpClient from "#dist/layers/httpClient/HttpClientNode.js"
import * as Hub from "#dist/layers/replica/Hub.js"
import { answer } from "../processes.ts"
import type { CrowdApi } from "./protocol.ts"

let requests = 0
let failed = 0

const machine = (port: number) =>
  Effect.gen(function* () {
    const hub = yield* Hub.make({ url: `http://127.0.0.1:${port}/`, authorization: undefined }, 30_000)
    const poll = Effect.match(hub.ask, {
      onFailure: () => {
        failed++
        return true
      },
      onSuccess: () => {
        requests++
        return false
      }
    })
    yield* Effect.repeat(poll, schedules.poll("5 seconds"))
  }).pipe(Effect.provide(Layer.merge(HttpClient.layer, NodeContext.layer)))

answer<CrowdApi>({
  start: ({ machines, port }) => {
    Effect.runFork(
      Effect.all(
        Array.from({ length: machines }, () => machine(port)),
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
