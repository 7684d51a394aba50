/**
 * What can be read from the dashboard, by its path.
 */
import type { PathInput } from "@effect/platform/HttpLayerRouter"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { jsonText } from "../../internal/JsonText.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Health, HealthRules } from "../../services/Health.ts"
import { json, text } from "../http/responses.ts"
import { makeHealth } from "./overview.ts"
import { readPageFiles } from "./pageFiles.ts"
import { contentType, prometheusText } from "./prometheus.ts"

export type Resources = ReadonlyMap<PathInput, Effect.Effect<HttpServerResponse>>

export const make = Effect.fnUntraced(function* (rules: HealthRules) {
  const { state, status } = yield* ControllerState
  const health = yield* makeHealth(rules)
  const { css, html, js } = yield* Effect.sync(readPageFiles)
  const resources: Resources = new Map([
    ["/", Effect.succeed(text(html, "text/html; charset=utf-8"))],
    ["/dashboard.css", Effect.succeed(text(css, "text/css; charset=utf-8"))],
    ["/dashboard.js", Effect.succeed(text(js, "text/javascript; charset=utf-8"))],
    ["/healthz", Effect.map(health, healthResource)],
    ["/metrics", Effect.map(Metric.snapshot, (pairs) => text(prometheusText(pairs), contentType))],
    ["/state", Effect.map(state, (state) => json(jsonText(state)))],
    ["/status", Effect.map(status, (status) => json(jsonText(status)))]
  ])
  return resources
})

const healthResource = ({ findings, isHealthy, word }: Health) =>
  json(
    `${JSON.stringify({ status: isHealthy ? "ok" : "failing", word, findings }, null, 2)}\n`,
    isHealthy ? 200 : 503
  )
