/**
 * Why a command could not do what it was asked to.
 */
import * as Schema from "effect/Schema"

/** Ends a command with its message and exit status 1. The message says what is wrong and, if known, what to do. */
export class CliError extends Schema.TaggedError<CliError>()("vitrine/CliError", {
  message: Schema.String
}) {}
