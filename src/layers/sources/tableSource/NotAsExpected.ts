/**
 * Why a version that was fetched is not shown.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { countText } from "../../../internal/readable.ts"
import { Violation, violationText } from "../../../services/Violation.ts"
import { maxListed, type Verdict } from "./TableCheck.ts"

/** What is in tables is not what the options of their source expect. */
export class NotAsExpected extends Schema.TaggedError<NotAsExpected>()("vitrine/NotAsExpected", {
  violations: Schema.NonEmptyArray(Violation),
  /** How many more there are. */
  unlisted: Schema.Number
}) {
  override get message() {
    const more = this.unlisted === 0 ? [] : [`There are ${countText(this.unlisted, "more violation")}.`]
    return [...this.violations.map(violationText), ...more].join("\n")
  }

  get isTransient(): boolean {
    return false
  }
}

/** Fails where something in a table is not as expected, with the violations of all tables. */
export const requireExpected = (verdicts: ReadonlyArray<Verdict>): Effect.Effect<void, NotAsExpected> => {
  const [first, ...rest] = verdicts.flatMap(({ violations }) => violations)
  if (first === undefined) {
    return Effect.void
  }
  const listed = rest.slice(0, maxListed - 1)
  const ofTables = verdicts.reduce((sum, { unlisted }) => sum + unlisted, 0)
  return new NotAsExpected({
    violations: [first, ...listed],
    unlisted: rest.length - listed.length + ofTables
  })
}
