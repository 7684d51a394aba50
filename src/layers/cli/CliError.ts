/**
 * The error that ends a command.
 */
import * as Schema from "effect/Schema"

/** Ends a command with its message and exit status 1. The message says what is wrong and, if possible, what to do. */
export class CliError extends Schema.TaggedError<CliError>()("vitrine/CliError", {
  message: Schema.String
}) {}
