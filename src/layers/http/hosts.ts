/**
 * The `Host` header: whether there is one, and whether it may name this server.
 */
import type { IncomingMessage } from "node:http"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"

export class HostNotAllowed extends Schema.TaggedError<HostNotAllowed>()("vitrine/HostNotAllowed", {
  host: Schema.String,
  /** Whose option it is, as in "the HTTP transport". */
  server: Schema.String
}) {
  override get message() {
    return `Host not allowed: ${JSON.stringify(this.host)} is not among the "allowedHosts" of ${this.server}.`
  }
}

/** How much of a header an error repeats. */
const maxShown = 100

/** Why a request with this header is refused; none where it may go on. */
export const refuseHost = (
  allowedHosts: ReadonlyArray<string> | undefined,
  header: string | undefined,
  server: string
): Option.Option<HostNotAllowed> => {
  const host = header ?? ""
  return allowedHosts === undefined || allowedHosts.includes(hostName(host))
    ? Option.none()
    : Option.some(new HostNotAllowed({ host: printableLine(host, maxShown), server }))
}

/** A `Host` header without its port. */
export const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase()

/** HTTP/1.1 demands the header, and forbids a second one. */
export const hasOneHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host")
  return hosts.length === 1 || (hosts.length === 0 && httpVersion !== "1.1")
}
