/**
 * `vitrine fetch`
 */
import { printableJson } from "../../internal/printable.ts"
import { FetchOutcome } from "../../services/ContentEvents.ts"
import * as ContentCommand from "./ContentCommand.ts"

export const run = ContentCommand.make({
  name: "fetch",
  result: FetchOutcome,
  isOnDisk: false,
  interrupted: {
    there: "The controller goes on fetching.",
    here: "Interrupted before the end; the content stays as it is."
  },
  text: (outcome) => printableJson(outcome, 2)
})
