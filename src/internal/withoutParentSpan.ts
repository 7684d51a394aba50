/**
 * What goes on after the span in which it was set up: it is not to be reported as a part of that, for months.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Tracer from "effect/Tracer"

/**
 * Runs the effect in no span: what it traces begins traces of its own, and the services that it takes hold of, for
 * what runs later, are without the span, too.
 */
export const withoutParentSpan: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =
  Effect.locallyWith(FiberRef.currentContext, Context.omit(Tracer.ParentSpan))
