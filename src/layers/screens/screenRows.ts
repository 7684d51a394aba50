/**
 * Rows about screens in the status.
 */
import type { Row } from "../../services/StatusSnapshot.ts"
import type { ScreenStatus } from "../../services/View.ts"
import { firstRows, kv, problemRow, worstTone } from "../status/rows.ts"

/** A row for each problem of the screens. */
export const problemRows = (screens: ReadonlyArray<ScreenStatus>): ReadonlyArray<Row> =>
  firstRows(
    screens.flatMap(({ problems }) => problems),
    problemRow
  )

/** A row for each screen. */
export const screenRows = (screens: ReadonlyArray<ScreenStatus>): ReadonlyArray<Row> =>
  firstRows(screens, (screen) =>
    kv(screen.name, screenText(screen), worstTone(screen, screen.word === "showing" ? "ok" : "neutral"))
  )

const screenText = ({ active, said, since, word }: ScreenStatus): string => {
  if (said === undefined) {
    return word
  }
  if (word === "closed") {
    return `closed at ${said.closedAt}`
  }
  if (word === "silent") {
    return `silent, last report at ${since}`
  }
  const version = active ? "the active version" : `version ${said.versionId}`
  return `${word}${word === "showing" ? " " : ", on "}${version}, last report at ${said.heardAt}`
}
