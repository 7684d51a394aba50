/**
 * What was fetched, and the log.
 */
import { byId, count, duration, folded, h, isNarrow, nothing, shortTime, show } from "./parts.js"

const toneOfOutcome = {
  running: "held",
  promoted: "ok",
  waits: "warn",
  unchanged: "neutral",
  failed: "error",
  unknown: "warn"
}

const outcomeText = {
  running: "Fetching now",
  promoted: "New version",
  waits: "New version, waits",
  unchanged: "No change",
  failed: "Failed",
  unknown: "Ended without a result"
}

const took = (millis) => (millis < 60_000 ? `${(millis / 1000).toFixed(1)} s` : duration(millis))

const change = ({ error, records, recordsBefore, sourceId }) => {
  const difference = recordsBefore === undefined ? 0 : records - recordsBefore
  return error !== undefined
    ? `${sourceId}: ${error}`
    : `${sourceId}: ${count(records, "record")}${difference === 0 ? "" : ` (${difference > 0 ? "+" : "−"}${Math.abs(difference)})`}`
}

const renderFetch = (isAlone) => (fetch) => {
  const { content, durationMs, endedAt, error, outcome, sources, startedAt, times } = fetch
  const details = [
    ...(error === undefined ? [] : [error]),
    ...(outcome === "failed" ? [] : sources.map(change)),
    ...(times > 1 ? [`${count(times, "time")} since ${shortTime(startedAt)}`] : [])
  ]
  return h(
    "li",
    { tone: toneOfOutcome[outcome] },
    h("time", { className: "when", dateTime: endedAt ?? startedAt }, shortTime(endedAt ?? startedAt)),
    h("span", { className: "dot" }),
    h(
      "span",
      { className: "what" },
      h("strong", {}, outcomeText[outcome]),
      [...(isAlone ? [] : [content]), ...(durationMs === undefined ? [] : [took(durationMs)])].map(
        (text) => `, ${text}`
      ),
      details.map((text) => h("small", {}, text))
    )
  )
}

/** How many fetches are shown at first. */
const few = 8

export const showFetches = (fetches) => {
  const latest = fetches.toReversed()
  const isAlone = new Set(fetches.map(({ content }) => content)).size <= 1
  show("fetches", latest, () =>
    latest.length === 0
      ? nothing("None yet.")
      : folded("fetches", few, { className: "rows" }, latest.map(renderFetch(isAlone)))
  )
  const longest = Math.max(1, ...fetches.map(({ durationMs = 0 }) => durationMs))
  show("strip", fetches.slice(-60), (entries) =>
    entries.map(({ durationMs = longest, outcome }) => {
      const bar = h("i", { tone: toneOfOutcome[outcome] })
      bar.style.setProperty("--height", `${15 + 85 * Math.sqrt(durationMs / longest)}%`)
      return bar
    })
  )
  byId("strip").hidden = fetches.length < 2
}

export const showLog = (lines) => {
  const log = byId("log")
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40
  show("log", lines, (lines) =>
    lines.map(({ at, level, text }) =>
      h(
        "li",
        { tone: level === "info" ? "neutral" : level },
        h("time", { dateTime: at, title: at }, shortTime(at)),
        h("span", {}, text)
      )
    )
  )
  if (isAtEnd) {
    log.scrollTop = log.scrollHeight
  }
}

for (const id of ["fetching", "logging"]) {
  byId(id).open = !isNarrow
}

byId("logging").addEventListener("toggle", () => {
  byId("log").scrollTop = byId("log").scrollHeight
})
