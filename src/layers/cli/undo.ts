/**
 * `vitrine rollback`, `vitrine hold`, `vitrine release` and `vitrine resume`
 */
import * as Console from "effect/Console"
import { HoldOutcome } from "../../services/VersionStore.ts"
import * as ContentCommand from "./ContentCommand.ts"
import { caller } from "./caller.ts"

const undo = {
  result: HoldOutcome,
  isOnDisk: true,
  interrupted: {
    there: "The controller goes on with it. See what is active with vitrine status.",
    here: "Interrupted. See what is active with vitrine versions."
  },
  report: (outcome: HoldOutcome) => Console.log(outcomeText(outcome))
}

export const rollback = ContentCommand.make({
  ...undo,
  name: "rollback",
  fields: (version) => ({ by: caller(), ...ContentCommand.versionField(version) })
})

export const hold = ContentCommand.make({
  ...undo,
  name: "hold",
  fields: () => ({ by: caller() })
})

export const release = ContentCommand.make({
  ...undo,
  name: "release",
  fields: (version) => ({ by: caller(), ...ContentCommand.versionField(version) }),
  report: (outcome) => Console.log(releasedText(outcome))
})

export const resume = ContentCommand.make({
  ...undo,
  name: "resume",
  fields: () => ({ by: caller() })
})

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
