/**
 * Rules about what is asked again, and when.
 */
import { expect } from "@effect/vitest"
import { png } from "./bytes.ts"
import type { Change } from "./front.ts"
import { published, rule } from "./harness.ts"
import { linked, type World } from "./readers.ts"

/** As a server without ETags, which answers 304 to every date that is not older than its file. */
const dated =
  (date: string): Change =>
  ({ asked, headers }) =>
    Date.parse(date) <= Date.parse(asked["if-modified-since"] ?? "")
      ? { status: 304, body: Buffer.alloc(0) }
      : { headers: { ...headers, "last-modified": new Date(date).toUTCString() } }

export const polls = [
  rule(
    11,
    "A poll that cannot tell is asked again, and named after five minutes (a file that grows all the time: after an hour)",
    "warn",
    "● p ● p p ● ●",
    function* ({ open, reader }) {
      let writes = 0
      // Files that only grow would have an hour.
      const world = (): World => ({
        documents: { objects: [{ id: "bell", title: "x".repeat(1 + (++writes % 2)) }] }
      })
      const away: Change = ({ url }) =>
        reader !== "tables" || url.includes("/webhooks/") ? { status: 503, body: Buffer.from("busy") } : {}
      const museum = yield* open(world())
      expect(yield* museum.run("10 seconds")).toMatchObject({ problems: [] })
      const writing = reader === "folder" ? () => museum.give(world()) : undefined
      if (writing === undefined) museum.give({ ...world(), change: away })
      if (writing !== undefined)
        expect(yield* museum.run("4 minutes", writing)).toMatchObject({ problems: [] })
      const { problems } = yield* museum.run("2 minutes", writing)
      expect(problems).toEqual([expect.stringContaining("museum")])
      museum.give({ documents: { objects: [{ id: "bell", title: "newest" }] } })
      const after = yield* museum.run("2 minutes")
      expect(after.problems).toEqual([])
      expect(after.records("objects")[0]?.title).toBe("newest")
    }
  ),

  rule(
    12,
    "An answer that depends on the time is asked for at each tick",
    "right",
    "s p s p p ● s",
    function* ({ open }) {
      const museum = yield* open({ documents: { objects: [{ id: "bell", title: "Bell" }] }, isTimed: true })
      for (const _ of [1, 2]) expect(yield* museum.poll).toBe("everything")
    }
  ),

  rule(
    13,
    "A file or document that goes back to an older one is fetched",
    "right",
    "● ● i ● ● i g",
    function* ({ open }) {
      const worldAt = (date: string, title: string, picture: Buffer): World => ({
        documents: { objects: [{ id: "bell", title, picture: linked("bell.png") }] },
        files: { "bell.png": picture },
        changedAt: new Date(date),
        change: dated(date)
      })
      const museum = yield* open(worldAt("2026-11-20T10:00:00Z", "wrong", Buffer.concat([png, png])))
      published(yield* museum.fetch)
      published(yield* museum.fetch)
      museum.give(worldAt("2026-11-19T09:00:00Z", "right", png))
      const outcome = published(yield* museum.fetch)
      const [bell] = outcome.records("objects")
      expect(bell?.title).toBe("right")
      expect(outcome.file(bell?.picture)).toEqual(png)
    }
  )
]
