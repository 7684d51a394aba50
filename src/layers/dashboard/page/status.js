/**
 * All that the controller says of itself, for those who open it: read again for as long as it is open.
 */
import { byId, entry, h, readable, show } from "./parts.js"

const renderRow = (row) => {
  switch (row.type) {
    case "kv":
      return entry(row.label, readable(row.value), row.tone)
    case "text":
      return h("dd", { className: "nested", tone: row.tone }, readable(row.text))
    default:
      return [
        h("dt", {}, row.label),
        row.items.length === 0
          ? h("dd", {}, "none")
          : h("dd", { className: "nested" }, h("dl", {}, row.items.map(renderRow)))
      ]
  }
}

const renderSection = ({ rows, title }) =>
  h("div", {}, h("h3", {}, title), h("dl", {}, rows.map(renderRow).flat(Number.POSITIVE_INFINITY)))

/** Reads it where it is open. */
export const refreshStatus = async () => {
  if (byId("report").open) {
    const response = await fetch("status")
    const { sections } = await response.json()
    show("status", sections, () => sections.map(renderSection))
  }
}

byId("report").addEventListener("toggle", () => void refreshStatus())
