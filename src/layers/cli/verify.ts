/**
 * `vitrine verify`
 */
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
  text: (verification, { isHere }) =>
    [...verification.problems.map(problemText), summary(verification, isHere)].join("\n"),
  isFailure: ({ problems }) => problems.length > 0
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

/** A running controller remembers the damaged files until it ends. */
const mendedThere = `If it is the active version, "vitrine fetch" replaces it.`
const mendedHere = `Start the controller and verify again: if it is the active version, "vitrine fetch" replaces it then.`
