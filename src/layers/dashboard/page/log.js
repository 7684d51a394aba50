/**
 * The log.
 */
import { byId, h, isNarrow, shortTime, show } from "./parts.js"

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

byId("logging").open = !isNarrow

byId("logging").addEventListener("toggle", () => {
  byId("log").scrollTop = byId("log").scrollHeight
})
