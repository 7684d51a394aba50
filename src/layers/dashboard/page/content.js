/**
 * The contents: a label for each content, its versions, and their changes.
 */
import { ask } from "./actions.js"
import {
  age,
  button,
  count,
  due,
  entry,
  folded,
  h,
  isNarrow,
  longTime,
  moment,
  nothing,
  shortTime,
  show,
  size,
  timeOf
} from "./parts.js"

const isLoopback = (host) => /^(127\.|localhost$|\[::1\]$)/.test(host)

/** A link to the page with the waiting version, if this browser can reach it. */
const renderLook = (page, everywhere) => {
  if (page === undefined) {
    return []
  }
  const { href, hostname } = addressOf(page, everywhere)
  return isLoopback(hostname) && !isLoopback(location.hostname)
    ? []
    : h("a", { className: "button", href, target: "_blank", rel: "noreferrer" }, "Look")
}

/** The address of the page. If its server listens on all interfaces, it has the host of this page: the address of the machine may have changed. */
export const addressOf = (page, everywhere) => {
  const address = new URL("?version=waiting", page)
  if (everywhere) {
    address.hostname = location.hostname
  }
  return address
}

const renderButtons = ({ everywhere, held, name, page, versionId, versions }) => {
  if (versionId === undefined || versions === undefined) {
    return []
  }
  const act = (label, question) => {
    const type = `${name}.${label.toLowerCase()}`
    return button(type, label, () => ask(label, question, { type }))
  }
  const waiting =
    held?.waiting === undefined ? undefined : `the version of ${shortTime(timeOf(held.waiting))}`
  const latest = waiting === undefined ? "" : `, and show ${waiting}`
  return [
    waiting === undefined
      ? []
      : [renderLook(page, everywhere), act("Release", `Show ${waiting}? Newer versions wait again.`)],
    held === undefined || held.byRule
      ? act(
          "Hold",
          "Keep the active version on the screens until somebody resumes, or until a time? Newer versions are fetched, and wait."
        )
      : act("Resume", `End the hold${latest}? New versions are shown as before the hold.`)
  ]
}

const byWhom = (by) => (by === undefined ? "" : ` by ${by}`)

const untilWhen = ({ until }) => (until === undefined ? [] : [", until ", moment(until)])

const renderHold = ({ held, released }) => [
  released === undefined
    ? []
    : entry("Released", [
        moment(released.at),
        byWhom(released.by),
        ...(released.until === undefined ? [] : [", the hold until ", moment(released.until), " has ended"])
      ]),
  held === undefined || held.byRule
    ? []
    : entry("Held", ["since ", moment(held.since), byWhom(held.by), ...untilWhen(held)], "held"),
  held?.waiting === undefined ? [] : entry("Waits", ["the version of ", moment(timeOf(held.waiting))], "held")
]

const toneOf = ({ failure, result }) =>
  failure === undefined ? undefined : result === "failed" ? "error" : "warn"

const renderFetching = ({ fetchingSince, lastFetch, lastSuccess, nextFetch }) => [
  fetchingSince !== undefined
    ? entry("Fetching", ["since ", moment(fetchingSince)])
    : lastFetch === undefined
      ? entry("Last fetch", "none yet")
      : entry("Last fetch", [moment(lastFetch.timestamp), `, ${lastFetch.result}`], toneOf(lastFetch)),
  lastFetch?.failure !== undefined && lastSuccess !== undefined
    ? entry("Last success", [moment(lastSuccess)])
    : [],
  nextFetch === undefined ? [] : entry(nextFetch.isRetry ? "Next try" : "Next fetch", [due(nextFetch.at)])
]

const renderContent = (isAlone, actions) => (content) => {
  const { generatedAt, name, versionId, versions } = content
  const records = versions?.find(({ active }) => active)?.size?.records
  return h(
    "article",
    { className: "label" },
    isAlone ? [] : h("p", { className: "name" }, name),
    versionId === undefined
      ? h("h2", {}, "No version yet")
      : [
          h("h2", {}, generatedAt === undefined ? versionId : longTime(generatedAt)),
          h("p", { className: "id" }, `Version ${versionId}`)
        ],
    h(
      "dl",
      {},
      generatedAt === undefined ? [] : entry("Made", [age(generatedAt)]),
      renderHold(content),
      renderFetching(content),
      records === undefined ? [] : entry("Records", records.toLocaleString())
    ),
    actions === "off" ? [] : h("div", { className: "actions" }, renderButtons(content))
  )
}

const marksOf = ({ active, isWaiting, players, screens }) =>
  [
    ...(active ? ["active"] : []),
    ...(isWaiting ? ["waits"] : []),
    ...(screens > 0 ? [`on ${count(screens, "screen")}`] : []),
    ...(players > 0 ? [`on ${count(players, "player")}`] : [])
  ].join(", ")

const toneOfVersion = ({ active, isWaiting }) => (active ? "ok" : isWaiting ? "held" : "neutral")

const sizeText = ({ bytes, files, records, values = 0 }) =>
  [
    ...(records === 0 && values > 0 ? [] : [count(records, "record")]),
    ...(values === 0 ? [] : [`${count(values, "set")} of values`]),
    count(files, "file"),
    size(bytes)
  ].join(", ")

const renderVersion = (name, actions) => (version) => {
  const { active, changes, size, versionId } = version
  const marks = marksOf(version)
  return h(
    "li",
    { tone: toneOfVersion(version) },
    h(
      "span",
      { className: "what" },
      h("strong", {}, shortTime(timeOf(versionId))),
      marks === "" ? [] : [" ", h("span", { className: "state" }, marks)],
      changes === undefined
        ? []
        : h(
            "ul",
            { className: "changes" },
            (changes.length === 0 ? ["Nothing in its records and files"] : changes).map((text) =>
              h("li", {}, text)
            )
          ),
      h(
        "small",
        {},
        h("span", { className: "id" }, versionId),
        h(
          "span",
          { className: "size" },
          size === undefined ? ", its list of files cannot be read" : `, ${sizeText(size)}`
        )
      )
    ),
    active || actions === "off"
      ? []
      : button(`${name} ${versionId}`, "Show this", () =>
          ask(
            "Show this",
            `Show the version of ${shortTime(timeOf(versionId))}, and hold it until somebody resumes? Newer versions are fetched, and wait.`,
            { type: `${name}.rollback`, versionId }
          )
        )
  )
}

/** How many versions are listed at first. */
const few = isNarrow ? 3 : 5

const renderVersions = ({ actions, contents }) =>
  contents.map(({ name, versions }) => [
    contents.length === 1 ? [] : h("h3", {}, name),
    versions === undefined || versions.length === 0
      ? nothing(versions === undefined ? "Its versions are not known here." : "No version is on disk.")
      : folded(`versions of ${name}`, few, { className: "rows" }, versions.map(renderVersion(name, actions)))
  ])

export const showContents = ({ actions, contents }) => {
  const data = { actions, contents }
  show("contents", data, () => contents.map(renderContent(contents.length === 1, actions)))
  show("versions", data, renderVersions)
}
