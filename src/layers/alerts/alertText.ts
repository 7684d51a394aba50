/**
 * The JSON of a post of alerts: `text` for a chat, and its fields for programs.
 */
import * as Array from "effect/Array"
import { sha256OfText } from "../../files/sha256.ts"
import type { Now } from "../../internal/monotonicMillis.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText, withLocalTimes } from "../../internal/readable.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { type Change, isEnd, type Kind } from "./Receiver.ts"

interface Circumstances extends Now {
  readonly node: Node | undefined
  readonly dashboard: string | undefined
  /** How many problems stand after this post. */
  readonly standing: number
}

/** The `key` of a problem is the same in all posts, and different on each machine. */
export const bodyOf = (
  post: Array.NonEmptyReadonlyArray<Change>,
  { dashboard, monotonic, node, standing, wall }: Circumstances
) => {
  const problems = post.map(({ changedAt, key, kind, problem }) => ({
    ...problem,
    endedAt: kind === "over" ? new Date(wall - monotonic + changedAt).toISOString() : undefined,
    change: kind,
    key: sha256OfText([node?.id, key].join("\n")).slice(0, 32)
  }))
  const others = standing - post.filter((change) => !isEnd(change)).length
  const text = [
    ...(node === undefined ? [] : [`${node.label ?? node.id}:`]),
    textOf(post),
    ...(others > 0
      ? [`${countText(others, "other problem")} ${others === 1 ? "continues" : "continue"}.`]
      : []),
    ...(dashboard === undefined ? [] : [`(${dashboard})`])
  ].join(" ")
  return {
    text: chatText(withLocalTimes(text, wall)),
    event: post.every(isEnd) ? "end" : "begin",
    node,
    dashboard,
    standing,
    ...(problems.length === 1 ? { problem: problems[0] } : { problems })
  }
}

const words: Readonly<Record<Kind, string>> = {
  begin: "began",
  again: "there again",
  worse: "worse",
  better: "better",
  unwatched: "no longer watched",
  over: "over"
}

/** The sentence of one change; of several, how many of each kind there are, and a line for each. */
const textOf = (post: Array.NonEmptyReadonlyArray<Change>): string => {
  if (post.length === 1) return lineOf(post[0])
  const counts = Object.values(Array.groupBy(post, ({ kind }) => kind)).map(
    (same) => `${same.length} ${words[same[0].kind]}`
  )
  return [counts.join(", "), ...post.map((change) => `- ${excerpt(lineOf(change))}`), ""].join("\n")
}

export const lineOf = ({ kind, problem: { text, unwatched } }: Pick<Change, "kind" | "problem">): string =>
  kind === "begin" ? text : `${words[kind]}${unwatched === undefined ? "" : ` (${unwatched})`}: ${text}`

/**
 * Text from others, safe for a chat: it notifies nobody (`<!channel>`, `@everyone`), and shows where each link leads.
 * Chats show `&lt;` as `<`. A zero-width space is put behind `@`, and between the two parts of a link in Markdown.
 */
const chatText = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/@|\](?=\()/g, "$&\u200b")
