/**
 * Detaches long-lived work from the span that started it. Otherwise it would be reported as a part of this span for
 * months.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Tracer from "effect/Tracer"

/**
 * Runs the effect in no span: its traces begin on their own, and services that it captures for later work are without
 * the span, too.
 */
export const withoutParentSpan: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =
  Effect.locallyWith(FiberRef.currentContext, Context.omit(Tracer.ParentSpan))
