/**
 * What configurations import as `vitrine`. It is loaded by commands that load a configuration.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class Library extends Context.Tag("vitrine/Library")<Library, Effect.Effect<object>>() {}
