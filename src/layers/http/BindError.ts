/**
 * Why a server could not listen, in words that say what to change.
 */
import * as Schema from "effect/Schema"
import { ErrorChain } from "../../internal/SerializedError.ts"

/** The port could not be bound. */
export class BindError extends Schema.TaggedError<BindError>()("vitrine/BindError", {
  host: Schema.String,
  port: Schema.Number,
  /** The system's code, `EADDRINUSE` for example. */
  code: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    const host = this.host.includes(":") ? `[${this.host}]` : this.host
    return `Cannot listen on ${host}:${this.port}: ${advice(this)}`
  }
}

const advice = ({ cause, code, host, port }: BindError): string => {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is already in use. Stop the program that uses it, or set another "port" (0 picks a free one).`
    case "EACCES":
      return `this user may not use port ${port}. Set a "port" above 1023.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `this machine has no interface "${host}". Set "host" to an address of this machine, such as "127.0.0.1".`
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}
