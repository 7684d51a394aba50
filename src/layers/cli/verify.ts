/**
 * `vitrine verify`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { printableLine } from "../../internal/printable.ts"
import { countText, sizeText } from "../../internal/readable.ts"
import { type FileProblem, Verification } from "../../services/VersionStore.ts"
import * as ContentCommand from "./ContentCommand.ts"

export const run = ContentCommand.make({
  name: "verify",
  fields: ContentCommand.versionField,
  result: Verification,
  isOnDisk: true,
  interrupted: { there: "The controller goes on verifying.", here: "Interrupted before the end." },
  report: (verification, _, { isHere }) =>
    Effect.gen(function* () {
      yield* Effect.forEach(verification.problems, (problem) => Console.log(problemText(problem)))
      yield* Console.log(summary(verification, isHere))
      if (verification.problems.length > 0) {
        process.exitCode = 1
      }
    })
})

const problemText = ({ path, problem }: FileProblem): string =>
  `${printableLine(path)} ${whatIsWrong[problem]}`

const whatIsWrong: Readonly<Record<FileProblem["problem"], string>> = {
  missing: "is missing",
  size: "has another size than when it was written",
  content: "has other content than when it was written",
  unreadable: "cannot be read",
  unexpected: "does not belong to the version"
}

const summary = ({ bytes, files, problems, versionId }: Verification, isHere: boolean): string => {
  const verified = `Version ${versionId}: ${countText(files, "file")}, ${sizeText(bytes)}`
  return problems.length === 0
    ? `${verified}, all as they were written.`
    : `${verified}, ${countText(problems.length, "problem")}. ${isHere ? mendedHere : mendedThere}`
}

/** The controller knows what it has found, until it ends. */
const mendedThere = `If it is the active version, "vitrine fetch" replaces it.`
const mendedHere = `Start the controller and verify again: if it is the active version, "vitrine fetch" replaces it then.`
