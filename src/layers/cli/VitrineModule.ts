/**
 * The module that configurations import as `vitrine`. Only commands that load a configuration load it.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class VitrineModule extends Context.Tag("vitrine/VitrineModule")<
  VitrineModule,
  Effect.Effect<object>
>() {}
