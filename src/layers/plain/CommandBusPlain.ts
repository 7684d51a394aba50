/**
 * The command bus of a plain controller.
 */
import * as Effect from "effect/Effect"
import { type Command, CommandBus, CommandFailed, type DispatchError } from "../../services/CommandBus.ts"
import type { PlainContext } from "./PlainContext.ts"

/** Commands are the controller's own: it knows which there are, decodes them and carries them out. */
export const make = (context: Pick<PlainContext, "dispatchCommand">) =>
  CommandBus.of({
    register: ({ type }) =>
      Effect.dieMessage(`The command "${type}" must be registered with the plain controller itself.`),
    types: Effect.succeed([]),
    dispatch: (command) =>
      Effect.async<unknown, DispatchError>((resume) => {
        const fail = (cause: unknown) => resume(Effect.fail(new CommandFailed({ type: command.type, cause })))
        settle(context, command, (value) => resume(Effect.succeed(value)), fail)
      })
  })

/** Tells what becomes of a command, be it refused, thrown or no result at all. */
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
    context.dispatchCommand(command).then((result) => attempt(() => result.match(onOk, onErr)), onErr)
  )
}
