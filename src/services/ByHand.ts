/**
 * Whether somebody has asked for a fetch: then a server is not asked by a date alone whether a file is newer, because
 * it may have gone back to an older one.
 */
import * as Context from "effect/Context"

export class ByHand extends Context.Reference<ByHand>()("vitrine/ByHand", {
  defaultValue: (): boolean => false
}) {}
