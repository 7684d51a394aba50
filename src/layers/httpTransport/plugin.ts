/**
 * The plugin of the HTTP transport.
 */
import * as Effect from "effect/Effect"
import { issuesOf } from "../../internal/Options.ts"
import type { Plugin } from "../../services/Plugin.ts"
import * as HttpTransport from "./HttpTransport.ts"
import * as HttpTransportOptions from "./HttpTransportOptions.ts"

/**
 * Exposes the command bus and the event bus over loopback HTTP and Server-Sent Events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const httpTransport = (config: HttpTransportOptions.HttpTransportConfig = {}): Plugin => {
  const options = HttpTransportOptions.decode(config)
  return {
    name: config.name ?? HttpTransportOptions.defaultName,
    issues: issuesOf(options),
    setup: () => Effect.as(Effect.flatMap(options, HttpTransport.fromOptions), Effect.void)
  }
}
