/**
 * Who runs a command.
 */
import { hostname, userInfo } from "node:os"
import * as Option from "effect/Option"

/** `user@host`, who may be another one than root; the host alone where the system does not know the user, as in some containers. */
export const caller = (): string =>
  Option.fromNullable(process.env.SUDO_USER).pipe(
    Option.filter((user) => user !== ""),
    Option.orElse(Option.liftThrowable(() => userInfo().username)),
    Option.match({ onNone: hostname, onSome: (user) => `${user}@${hostname()}` })
  )
