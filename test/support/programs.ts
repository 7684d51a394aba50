/**
 * Programs beside the project's own, for tests of whole programs.
 */
import { inject } from "vitest"
import type { ProgramName } from "./setup/programs.ts"

const find = (name: ProgramName): string | null => {
  const path = inject("programs")[name]
  if (path === undefined) {
    throw new Error(`${name} is not among what test/support/setup/programs.ts finds for this project`)
  }
  return path
}

/** For `describe.skipIf`: whether there is no such program. */
export const isMissing = (name: ProgramName): boolean => find(name) === null

/** The path of its executable. */
export const pathOf = (name: ProgramName): string => {
  const path = find(name)
  if (path === null) {
    throw new Error(`${name} is missing: skip the test with isMissing("${name}")`)
  }
  return path
}
