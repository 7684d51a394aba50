/**
 * `vitrine rollback`, `vitrine hold`, `vitrine release` and `vitrine resume`
 */
import { momentText } from "../../internal/readable.ts"
import { HoldOutcome } from "../../services/VersionStore.ts"
import { caller } from "./askController.ts"
import * as ContentCommand from "./ContentCommand.ts"
import { oldLines } from "./diff.ts"
import type { Options } from "./program.ts"

const outcomeText = (
  { changed, held, versionId }: HoldOutcome,
  { now }: ContentCommand.TextContext
): string => {
  const active = `Version ${versionId} is active${changed ? " now" : ""}`
  if (held === undefined) {
    return `${active}, and is not held.`
  }
  const waiting = held.waiting === undefined ? "" : ` Version ${held.waiting} waits.`
  if (held.until !== undefined) {
    const next =
      held.waiting === undefined ? "the latest version" : `version ${held.waiting}, or a later one,`
    return `${active}, and stays until ${momentText(new Date(held.until), now)}, or "vitrine resume". Then ${next} is shown.`
  }
  return held.byRule === undefined
    ? `${active}, and stays until "vitrine resume".${waiting}`
    : `${active}.${waiting} "vitrine release" shows it.`
}

/** If no version waits, the result does not say whether new versions will wait. */
const releasedText = (outcome: HoldOutcome, context: ContentCommand.TextContext): string => {
  const { changed, held, versionId } = outcome
  return held !== undefined
    ? outcomeText(outcome, context)
    : changed
      ? `Version ${versionId} is active now.`
      : `Version ${versionId} is active, and no other version waits.`
}

/** Adds the sources whose content in the active version is old. */
const withOld =
  (text: typeof outcomeText): typeof outcomeText =>
  (outcome, context) =>
    [text(outcome, context), ...oldLines(outcome.versionId, outcome.kept, context.now)].join("\n")

const common = {
  fields: (versionId?: string) => ({ by: caller(), versionId }),
  result: HoldOutcome,
  isOnDisk: true,
  interrupted: {
    there: "The controller goes on with it. See what is active with vitrine status.",
    here: "Interrupted. See what is active with vitrine versions."
  },
  text: withOld(outcomeText)
}

export const rollback = ContentCommand.make({ ...common, name: "rollback" })
export const hold = (options: Options) =>
  ContentCommand.make({
    ...common,
    name: "hold",
    fields: () => ({ by: caller(), until: options.until })
  })(options)
export const release = ContentCommand.make({ ...common, name: "release", text: withOld(releasedText) })
export const resume = ContentCommand.make({ ...common, name: "resume" })
