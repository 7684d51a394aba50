/**
 * The command bus of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { unexpected } from "../../internal/Options.ts"
import { type Command, CommandBus, CommandFailed, type DispatchError } from "../../services/CommandBus.ts"
import { withDispatchTimeout } from "../memory/CommandBusMemory.ts"
import type { PlainContext, PlainSettled } from "./plainController.ts"

/**
 * The controller owns its commands: it lists, decodes and executes them. A command continues after its timeout.
 */
export const make = (context: Pick<PlainContext, "dispatchCommand">) =>
  CommandBus.of({
    register: ({ type }) =>
      Effect.dieMessage(`The command "${type}" must be registered with the plain controller itself.`),
    types: Effect.succeed([]),
    dispatch: (command, options = {}) => {
      const { type } = command
      const settled = Effect.async<unknown, DispatchError>((resume) => {
        const fail = (cause: unknown) => resume(Effect.fail(new CommandFailed({ type, cause })))
        settle(context, command, (value) => resume(Effect.succeed(value)), fail)
      })
      return withDispatchTimeout(settled, type, options)
    }
  })

/** The controller returned something else than a result: the outcome of the command is unknown. */
export class NoResult extends Schema.TaggedError<NoResult>()("vitrine/NoResult", { issue: Schema.String }) {
  override get message() {
    return `"dispatchCommand" must return a ResultAsync of neverthrow, such as okAsync(value): ${this.issue}`
  }
}

/** The outcome of a command: a result, an error, an exception or something else. */
const settle = (
  context: Pick<PlainContext, "dispatchCommand">,
  command: Command,
  onOk: (value: unknown) => void,
  onErr: (error: unknown) => void
) => {
  const attempt = (act: () => void) => {
    try {
      act()
    } catch (thrown) {
      onErr(thrown)
    }
  }
  attempt(() =>
    asPromise(context.dispatchCommand(command)).then(
      (result) => attempt(() => asResult(result).match(onOk, onErr)),
      onErr
    )
  )
}

/** Returns a valid value, and throws for others. */
const require =
  <A>(what: string, is: Predicate.Refinement<unknown, A>) =>
  (value: unknown): A => {
    if (is(value)) return value
    throw new NoResult({ issue: unexpected(what, value) })
  }

const asPromise = require("a promise", Predicate.isPromiseLike)

/** Rejects strings: they have their own `match`, which would never call back. */
const asResult = require("a Result in the promise", (value): value is PlainSettled =>
  Predicate.hasProperty(value, "match") && Predicate.isFunction(value.match))
