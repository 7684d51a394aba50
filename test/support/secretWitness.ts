/**
 * Everything that a program shows of itself, to look for traces of a secret in it.
 */
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { content } from "../../src/index.ts"
import { serializeError } from "../../src/internal/SerializedError.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import type { ContentSourceDefinition } from "../../src/services/ContentSource.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { withAdvancingClock } from "../../src/testing.ts"

/** A token with characters that URLs write otherwise. */
export const token = "patKq7ZxVb/Wm3+JtYh.Lp9Rc4Gd"

const base64 = [token, `Bearer ${token}`].map((text) => Buffer.from(text).toString("base64"))

export const tokenInUrl = encodeURIComponent(token)

/** The token in each form that a server may give it. */
export const echo = `${token} ${tokenInUrl} ${JSON.stringify(token)} ${base64.join(" ")}`

/** Any six characters of the token, or eight of its Base64. */
const traces = [
  ...pieces(token, 6),
  ...pieces(tokenInUrl, 9),
  ...base64.flatMap((text) => pieces(text, 8).slice(8))
]

function pieces(text: string, length: number): ReadonlyArray<string> {
  return Array.from({ length: text.length - length + 1 }, (_, at) =>
    text.slice(at, at + length).toLowerCase()
  )
}

export const tracesIn = (shown: string) => {
  const lower = shown.toLowerCase()
  return traces.filter((trace) => lower.includes(trace))
}

type Witness = ReturnType<typeof makeWitness>

/** Everything that a program could show of itself. */
export const makeWitness = () => {
  const seen: Array<string> = []
  const see = (what: string, value: unknown) => {
    seen.push(`${what}: ${inspect(value, { depth: 20, showHidden: true, maxStringLength: null })}`)
  }
  const logger = Logger.make(({ annotations, cause, message, spans }) => {
    see("log", [
      message,
      Cause.pretty(cause, { renderErrorCause: true }),
      cause,
      [...annotations],
      [...spans]
    ])
  })
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      see("span", name)
      return {
        _tag: "Span",
        spanId: "span",
        traceId: "trace",
        sampled: true,
        name,
        parent,
        context,
        links,
        kind,
        attributes,
        status: { _tag: "Started", startTime },
        attribute: (key, value) => {
          attributes.set(key, value)
          see("attribute", [key, value])
        },
        event: (name, _, attributes) => see("span event", [name, attributes]),
        addLinks: (links) => see("links", links),
        end: (_, exit) => {
          // No tracer shows what a span came to, only what it failed with.
          see("span end", [name, [...attributes], Exit.isFailure(exit) ? exit.cause : "ok"])
          if (Exit.isFailure(exit)) see("span failure", Cause.pretty(exit.cause, { renderErrorCause: true }))
        }
      }
    }
  })
  const everything = Layer.mergeAll(
    Logger.replace(Logger.defaultLogger, logger),
    Logger.minimumLogLevel(LogLevel.All),
    Layer.setTracer(tracer)
  )
  return { seen, see, everything }
}

/** A controller with this source that is watched: gives what fetches it, and how that went. */
export const watchedFetch = (source: ContentSourceDefinition, directory: string, see: Witness["see"]) =>
  Effect.gen(function* () {
    const { dispatch } = yield* CommandBus
    const state = yield* ControllerState
    const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
    yield* Effect.forkScoped(Stream.runForEach(events, (event) => Effect.sync(() => see("event", event))))
    yield* content({ sources: [source] }).setup({ cwd: directory, addLogger: () => Effect.void })
    return Effect.gen(function* () {
      const { value } = yield* withAdvancingClock(
        Effect.exit(Effect.withSpan(dispatch({ type: "content.fetch" }), "outer"))
      )
      if (Exit.isFailure(value)) {
        const { cause } = value
        const squashed = Cause.squash(cause)
        see("failure", [cause, JSON.stringify(cause), serializeError(squashed), String(squashed)])
        see("pretty", Cause.pretty(cause, { renderErrorCause: true }))
      }
      see("status", yield* state.status)
      see("state", yield* state.state)
      return value
    })
  })
