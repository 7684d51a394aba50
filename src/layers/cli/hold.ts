/**
 * `vitrine rollback`, `vitrine hold`, `vitrine release` and `vitrine resume`
 */
import { HoldOutcome } from "../../services/VersionStore.ts"
import { caller } from "./askController.ts"
import * as ContentCommand from "./ContentCommand.ts"

const outcomeText = ({ changed, held, versionId }: HoldOutcome): string => {
  const active = `Version ${versionId} is active${changed ? " now" : ""}`
  if (held === undefined) {
    return `${active}, and is not held.`
  }
  const waiting = held.waiting === undefined ? "" : ` Version ${held.waiting} waits.`
  return held.byRule === undefined
    ? `${active}, and stays until "vitrine resume".${waiting}`
    : `${active}.${waiting} "vitrine release" shows it.`
}

/** Whether new versions wait is not known where none does. */
const releasedText = (outcome: HoldOutcome): string => {
  const { changed, held, versionId } = outcome
  return held !== undefined
    ? outcomeText(outcome)
    : changed
      ? `Version ${versionId} is active now.`
      : `Version ${versionId} is active, and no other one waits.`
}

const common = {
  fields: (version?: string) => ({ by: caller(), ...ContentCommand.versionField(version) }),
  result: HoldOutcome,
  isOnDisk: true,
  interrupted: {
    there: "The controller goes on with it. See what is active with vitrine status.",
    here: "Interrupted. See what is active with vitrine versions."
  },
  text: outcomeText
}

export const rollback = ContentCommand.make({ ...common, name: "rollback" })
export const hold = ContentCommand.make({ ...common, name: "hold" })
export const release = ContentCommand.make({ ...common, name: "release", text: releasedText })
export const resume = ContentCommand.make({ ...common, name: "resume" })
