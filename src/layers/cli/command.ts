/**
 * The error that ends a command, and the library that the program gives to commands.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Ends a command with its message and exit status 1. The message says what is wrong and, if possible, what to do. */
export class CliError extends Schema.TaggedError<CliError>()("vitrine/CliError", {
  message: Schema.String
}) {}

/** The module that configurations import as `vitrine`. Only commands that load a configuration load it. */
export class VitrineModule extends Context.Tag("vitrine/VitrineModule")<
  VitrineModule,
  Effect.Effect<object>
>() {}
