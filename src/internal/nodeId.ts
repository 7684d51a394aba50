/**
 * The default id of a machine.
 */
import { hostname } from "node:os"
import * as Effect from "effect/Effect"

/** The longest label of a DNS name. */
const maxLength = 63

/** The short name of a host as an id: ASCII letters in lower case, digits, `_` and `-`. */
export const nodeIdOf = (hostname: string): string =>
  (hostname.split(".", 1)[0] ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, "") || "localhost"

/** The default id of this host. */
export const nodeId = Effect.sync(() => nodeIdOf(hostname()))
