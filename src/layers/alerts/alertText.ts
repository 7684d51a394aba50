/**
 * The text of posted problems.
 */
import { printableLine } from "../../internal/printable.ts"
import { countText, withLocalTimes } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"

/** How many subjects are listed, and how long a name may be. */
const maxNamed = 20
const maxName = 64

/**
 * The text of one problem, or a summary of several with the same code: `12 players silent since 22:01:09: hall-1,
 * hall-2`. Times are local.
 */
export const alertText = (problems: ReadonlyArray<Problem>, now: number): string =>
  withLocalTimes(problems.length === 1 ? problems.map(({ text }) => text).join() : groupText(problems), now)

/**
 * Text from others, safe for a chat: it notifies nobody (`<!channel>`, `@everyone`), and shows where each link leads.
 * Chats show `&lt;` as `<`. A zero-width space is put behind `@`, and between the two parts of a link in Markdown.
 */
export const chatText = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/@|\](?=\()/g, "$&\u200b")

const groupText = (problems: ReadonlyArray<Problem>): string => {
  const [since] = problems.flatMap(({ since }) => (since === undefined ? [] : [since])).toSorted()
  const named = problems.slice(0, maxNamed).map(nameOf)
  const more = problems.length - named.length
  return `${countOf(problems)}${since === undefined ? "" : ` since ${since}`}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** `player:never-seen` as `3 players never seen`. */
const countOf = ({ 0: first, length }: ReadonlyArray<Problem>): string => {
  const [kind = "", ...what] = (first?.code ?? "").split(":")
  const state = what.join(" ").replaceAll("-", " ")
  return `${countText(length, kind)} ${state === "problem" ? "with a problem" : state}`.trimEnd()
}

const nameOf = ({ player, subject, text }: Problem): string =>
  printableLine([...(player === undefined ? [] : [player]), subject ?? text].join(" "), maxName)
