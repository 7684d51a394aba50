/**
 * The plugin of a replica.
 */
import * as Effect from "effect/Effect"
import type * as Plugin from "../../services/Plugin.ts"
import { versionsPlugin } from "../fetching/plugin.ts"
import * as Replica from "./Replica.ts"
import * as ReplicaOptions from "./ReplicaOptions.ts"

/**
 * Copies the versions of another controller, from its `contentServer` or from any other server of its downloads folder.
 * Replaces `content`, with the same commands, events and files.
 */
export const replica = (config: ReplicaOptions.ReplicaConfig): Plugin.Plugin =>
  versionsPlugin(config, {
    decode: ReplicaOptions.decode,
    make: (options, { addLogger }) => Replica.fromOptions(options, addLogger),
    sources: () => Effect.succeed([])
  })
