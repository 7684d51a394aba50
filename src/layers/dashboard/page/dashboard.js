/**
 * The page: it shows what the event stream sends, and nothing else. All text is set as text.
 */

const toneOfWord = { OK: "ok", WARNING: "warn", HELD: "held", FAILING: "error", "NO CONTENT": "error" }

const byId = (id) => document.getElementById(id)

/** An element; of its properties, `tone` is a data attribute. Children are text or elements. */
const h = (name, { tone, ...properties } = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  if (tone !== undefined) {
    element.dataset.tone = tone
  }
  element.append(...children.flat())
  return element
}

/** How far the clock of the controller is ahead of this one, in milliseconds. */
let ahead = 0
const now = () => Date.now() + ahead

// Times

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })
const clockToday = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit"
})
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit"
})
const longDate = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" })

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1]
]

/** The two largest units: `2 h 13 min`. */
const duration = (millis) => {
  let seconds = Math.max(0, Math.round(millis / 1000))
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(seconds / size)
    seconds -= count * size
    return [count, unit]
  })
  const first = parts.findIndex(([count]) => count > 0)
  return first === -1
    ? "0 s"
    : parts
        .slice(first, first + 2)
        .filter(([count]) => count > 0)
        .map((part) => part.join(" "))
        .join(" ")
}

const took = (millis) => (millis < 60_000 ? `${(millis / 1000).toFixed(1)} s` : duration(millis))

const isToday = (date) => date.toDateString() === new Date(now()).toDateString()

const shortTime = (iso) => {
  const date = new Date(iso)
  return (isToday(date) ? clockToday : dayAndTime).format(date)
}

const distance = (iso) => {
  const millis = Date.parse(iso) - now()
  return Math.abs(millis) < 1000 ? "now" : millis > 0 ? `in ${duration(millis)}` : `${duration(-millis)} ago`
}

/** A time with its distance from now, which goes on. */
const moment = (iso) => h("span", {}, h("time", { dateTime: iso }, shortTime(iso)), " (", age(iso), ")")

const age = (iso) => {
  const element = h("span", {}, distance(iso))
  element.dataset.distance = iso
  return element
}

setInterval(() => {
  for (const element of document.querySelectorAll("[data-distance]")) {
    element.textContent = distance(element.dataset.distance)
  }
}, 1000)

const isoTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/

/** Text of the status, its ISO times as local ones. */
const readable = (text) => {
  const time = isoTime.exec(text)
  return time === null
    ? [text]
    : [text.slice(0, time.index), moment(time[0]), ...readable(text.slice(time.index + time[0].length))]
}

const count = (number, what) => `${number.toLocaleString()} ${what}${number === 1 ? "" : "s"}`

const size = (bytes) => {
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return power === 0
    ? count(bytes, "byte")
    : `${(bytes / 1024 ** power).toFixed(1)} ${["KiB", "MiB", "GiB", "TiB"][power - 1]}`
}

/** The time in a version id. */
const timeOf = (versionId) =>
  versionId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6Z")

// Parts of the page

const shown = new Map()

/** Replaces what is in an element, where the data that it shows is other than before: focus and place stay. */
const show = (id, data, render) => {
  const key = JSON.stringify(data)
  if (shown.get(id) !== key) {
    shown.set(id, key)
    byId(id).replaceChildren(...render(data))
  }
}

const entry = (label, value, tone) => [h("dt", {}, label), h("dd", { tone }, value)]

const nothing = (text) => [h("p", { className: "muted" }, text)]

const showWord = (word, tone) => {
  document.title = [word, byId("node").textContent, "Vitrine"].filter((part) => part !== "").join(" · ")
  document.body.dataset.tone = tone
  byId("word").textContent = word
  byId("word").style.setProperty("--length", String(Math.max(4, word.length)))
  const color = getComputedStyle(byId("word")).color
  const circle = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="${color}"/></svg>`
  byId("icon").href = `data:image/svg+xml,${encodeURIComponent(circle)}`
}

/** Of all sources of a version, where they are known. */
const total = (sources, field) => sources?.reduce((sum, source) => sum + (source[field] ?? 0), 0)

const renderContent = (isAlone, actions) => (content) => {
  const { fetchingSince, generatedAt, held, lastFetch, lastSuccess, name, nextFetch, versionId, versions } =
    content
  const records = total(versions?.find(({ active }) => active)?.sources, "records")
  const button = (label, question, command) =>
    h(
      "button",
      { type: "button", onclick: () => ask(label, question, { type: `${name}.${command}` }) },
      label
    )
  const buttons =
    actions === "off" || versions === undefined || versionId === undefined
      ? []
      : held === undefined
        ? [
            button(
              "Hold",
              "Keep this version on the screens, whatever is fetched, until somebody resumes?",
              "hold"
            )
          ]
        : [
            button(
              "Resume",
              held.waiting === undefined
                ? "End the hold, and show each new version from now on?"
                : `Show version ${held.waiting} now, and each new one from now on?`,
              "resume"
            )
          ]
  return h(
    "article",
    { className: "label" },
    isAlone ? [] : h("p", { className: "name" }, name),
    versionId === undefined
      ? h("h2", {}, "No version yet")
      : [
          h("h2", {}, generatedAt === undefined ? versionId : longDate.format(new Date(generatedAt))),
          h("p", { className: "id" }, `Version ${versionId}`)
        ],
    h(
      "dl",
      {},
      generatedAt === undefined ? [] : entry("Made", [age(generatedAt)]),
      held === undefined
        ? []
        : entry(
            "Held",
            [
              "since ",
              moment(held.since),
              held.by === undefined ? "" : ` by ${held.by}`,
              held.waiting === undefined ? "" : `; ${held.waiting} waits`
            ],
            "held"
          ),
      fetchingSince !== undefined
        ? entry("Fetching", ["since ", moment(fetchingSince)])
        : lastFetch === undefined
          ? entry("Last fetch", "none yet")
          : entry(
              "Last fetch",
              [moment(lastFetch.timestamp), "error" in lastFetch ? ", failed" : ""],
              "error" in lastFetch ? "error" : undefined
            ),
      lastFetch !== undefined && "error" in lastFetch && lastSuccess !== undefined
        ? entry("Last success", [moment(lastSuccess)])
        : [],
      nextFetch === undefined
        ? []
        : entry(nextFetch.isRetry ? "Next try" : "Next fetch", [moment(nextFetch.at)]),
      records === undefined ? [] : entry("Records", records.toLocaleString())
    ),
    buttons.length === 0 ? [] : h("div", { className: "actions" }, buttons)
  )
}

const isHeard = ({ word }) => !["silent", "closed", "never seen"].includes(word)

const lastHeardAt = (screens) =>
  screens
    .flatMap(({ said }) => (said ? [said.heardAt] : []))
    .sort()
    .at(-1)

/** What is said where nothing is wrong. */
const renderWellBeing = (screens) => {
  const heard = screens.filter(isHeard).length
  const last = lastHeardAt(screens)
  return heard > 0
    ? [`Everything works, on ${count(heard, "screen")}.`]
    : last === undefined
      ? ["The controller works. No screen has said what it shows."]
      : ["The controller works. No screen is heard of any more; the last one was at ", moment(last), "."]
}

const toneOfScreen = ({ problem, word }) =>
  problem ? (problem.severity === "error" ? "error" : "warn") : word === "showing" ? "ok" : "neutral"

const renderScreens = ({ screens: known, transport }) => {
  const screens = known.map((screen) => {
    const { active, name, said, word } = screen
    return h(
      "li",
      { tone: toneOfScreen(screen) },
      h(
        "span",
        { className: "what" },
        h("strong", {}, name),
        h("br"),
        h(
          "span",
          { className: "muted" },
          word,
          said === undefined
            ? []
            : [
                isHeard(screen) ? (word === "showing" ? " " : ", on ") : ", has shown ",
                active ? "the active version" : said.versionId
              ]
        ),
        word === "problem"
          ? [
              h("br"),
              h("span", { className: "problem" }, said.problem, ", since ", moment(said.problemSince))
            ]
          : []
      ),
      said === undefined ? [] : h("span", { className: "muted" }, "heard of ", age(said.heardAt))
    )
  })
  const streams = (transport?.streams ?? []).map(({ origin, since, streams, userAgent }) =>
    h(
      "li",
      {},
      h(
        "span",
        { className: "what" },
        h("strong", {}, origin || "no origin"),
        h("br"),
        h("span", { className: "muted" }, userAgent || "no user agent")
      ),
      h("span", { className: "muted" }, `${count(streams, "stream")}, the first `, age(since))
    )
  )
  return [
    h("h3", {}, "Have said what they show"),
    ...(screens.length === 0 ? nothing("None.") : [h("ul", { className: "rows" }, screens)]),
    ...(transport === undefined
      ? []
      : [
          h("h3", {}, `Event streams: ${transport.clients} of ${transport.maxClients}`),
          ...(streams.length === 0 ? nothing("None is open.") : [h("ul", { className: "rows" }, streams)])
        ])
  ]
}

const renderVersions = ({ actions, contents, screens }) =>
  contents.flatMap(({ name, versions }) => [
    ...(contents.length === 1 ? [] : [h("h3", {}, name)]),
    ...(versions === undefined
      ? nothing("Not known here.")
      : versions.length === 0
        ? nothing("None on disk.")
        : [h("ul", { className: "rows" }, versions.toReversed().map(renderVersion(name, actions, screens)))])
  ])

const renderVersion =
  (name, actions, screens) =>
  ({ active, isWaiting, sources, versionId }) => {
    const shown = screens.filter(
      (screen) => screen.content === name && screen.said?.versionId === versionId && isHeard(screen)
    ).length
    const marks = [
      ...(active ? ["active"] : []),
      ...(isWaiting ? ["waits"] : []),
      ...(shown > 0 ? [`on ${count(shown, "screen")}`] : [])
    ]
    const facts =
      sources === undefined
        ? "its list of files cannot be read"
        : [
            count(total(sources, "records"), "record"),
            count(total(sources, "files"), "file"),
            size(total(sources, "bytes"))
          ].join(", ")
    return h(
      "li",
      { tone: active ? "ok" : "neutral" },
      h(
        "span",
        { className: "what" },
        h("strong", {}, shortTime(timeOf(versionId))),
        marks.length === 0 ? "" : ` · ${marks.join(", ")}`,
        h("br"),
        h("span", { className: "id" }, versionId),
        h("br"),
        h("span", { className: "muted" }, facts)
      ),
      active || actions === "off"
        ? []
        : h(
            "button",
            {
              type: "button",
              onclick: () =>
                ask("Show this", `Show version ${versionId}, and keep it until somebody resumes?`, {
                  type: `${name}.rollback`,
                  versionId
                })
            },
            "Show this"
          )
    )
  }

// Fetches

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

const change = ({ error, records, recordsBefore, sourceId }) => {
  const difference = recordsBefore === undefined ? 0 : records - recordsBefore
  return error !== undefined
    ? `${sourceId}: ${error}`
    : `${sourceId}: ${count(records, "record")}${difference === 0 ? "" : ` (${difference > 0 ? "+" : "−"}${Math.abs(difference)})`}`
}

const renderFetch = (isAlone) => (fetch) => {
  const { content, durationMs, endedAt, error, outcome, sources, startedAt, times, versionId } = fetch
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
      [
        ...(isAlone ? [] : [content]),
        ...(durationMs === undefined ? [] : [took(durationMs)]),
        ...(outcome === "promoted" || outcome === "waits" ? [versionId] : [])
      ].map((text) => ` · ${text}`),
      details.map((text) => h("small", {}, text))
    )
  )
}

let fetches = []
let isWhole = false
const few = 8

const showFetches = () => {
  const latest = fetches.toReversed()
  const isAlone = new Set(fetches.map(({ content }) => content)).size <= 1
  show("fetches", [latest.slice(0, isWhole ? latest.length : few), isAlone], ([entries]) =>
    entries.length === 0 ? nothing("None yet.") : entries.map(renderFetch(isAlone))
  )
  byId("more").hidden = fetches.length <= few
  byId("more").textContent = isWhole ? "Show the latest" : `Show all ${fetches.length}`
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

byId("more").onclick = () => {
  isWhole = !isWhole
  showFetches()
}

// Status and log

const renderRows = (rows) =>
  rows.flatMap((row) => {
    switch (row.type) {
      case "kv":
        return entry(row.label, readable(row.value), row.tone)
      case "text":
        return [h("dd", { className: "nested", tone: row.tone }, readable(row.text))]
      default:
        return [
          h("dt", {}, row.label),
          row.items.length === 0
            ? h("dd", {}, "none")
            : h("dd", { className: "nested" }, h("dl", {}, renderRows(row.items)))
        ]
    }
  })

const renderStatus = (sections) =>
  sections.map(({ rows, title }) => h("div", {}, h("h3", {}, title), h("dl", {}, renderRows(rows))))

const showLog = (lines) => {
  const log = byId("log")
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40
  show("log", lines, (lines) =>
    lines.map(({ at, level, text }) =>
      h(
        "li",
        { tone: level === "info" ? "neutral" : level },
        h("time", { dateTime: at, title: at }, clock.format(new Date(at))),
        h("span", {}, text)
      )
    )
  )
  if (isAtEnd) {
    log.scrollTop = log.scrollHeight
  }
}

let latest

const showOverview = (overview) => {
  latest = overview
  ahead = overview.now - Date.now()
  const { actions, contents, node, problems, screens, sections, startTime, transport, word } = overview
  document.body.classList.remove("away")
  byId("node").textContent = node?.label ?? node?.id ?? ""
  showWord(word, toneOfWord[word] ?? "warn")
  show("connection", "live", () => [`${location.host} · live`])
  show("running", startTime, () => ["running since ", moment(startTime)])
  show("problems", [problems, screens], ([problems, screens]) =>
    problems.length === 0
      ? [h("li", {}, renderWellBeing(screens))]
      : problems.map(({ severity, text }) =>
          h("li", { tone: severity === "error" ? "error" : "warn" }, readable(text))
        )
  )
  show("contents", [contents, actions], () => contents.map(renderContent(contents.length === 1, actions)))
  show("screens", { screens, transport }, renderScreens)
  show("versions", { contents, screens, actions }, renderVersions)
  show("status", sections, renderStatus)
}

// Actions

const tokenInput = byId("token").querySelector("input")

/** Asks first; the dialog stays open where it fails, and says why. */
const ask = (label, question, command) => {
  const needsToken = latest.actions === "token"
  byId("question").textContent = question
  byId("confirm").textContent = label
  byId("problem").textContent = ""
  byId("token").hidden = !needsToken
  tokenInput.value = needsToken ? (sessionStorage.getItem("token") ?? "") : ""
  byId("confirm").onclick = async (event) => {
    event.preventDefault()
    byId("problem").textContent = await send(command, needsToken ? tokenInput.value : undefined)
    if (byId("problem").textContent === "") {
      byId("dialog").close()
    }
  }
  byId("dialog").showModal()
}

/** Gives why it failed; nothing where it did not. The token is kept for as long as this tab is open. */
const send = async (command, token) => {
  try {
    const response = await fetch("command", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` })
      },
      body: JSON.stringify(command)
    })
    const { error } = await response.json()
    if (error === undefined && token !== undefined) {
      sessionStorage.setItem("token", token)
    }
    return error?.message ?? ""
  } catch (error) {
    return `The controller cannot be reached. ${error.message}`
  }
}

// The event stream

let awaySince

const lost = () => {
  awaySince ??= new Date().toISOString()
  document.body.classList.add("away")
  showWord("NO CONNECTION", "neutral")
  show("problems", awaySince, () => [
    h(
      "li",
      { tone: "error" },
      "Nothing is heard of the controller since ",
      moment(awaySince),
      ". What is below is older."
    )
  ])
  show("connection", "lost", () => ["not connected, trying again"])
}

let stream
let heardAt

const connect = () => {
  heardAt = performance.now()
  stream = new EventSource("events")
  const listen = (name, take) =>
    stream.addEventListener(name, ({ data }) => {
      heardAt = performance.now()
      awaySince = undefined
      take(JSON.parse(data))
    })
  listen("overview", showOverview)
  listen("fetches", (entries) => {
    fetches = entries
    showFetches()
  })
  listen("log", showLog)
  stream.onerror = lost
}

/**
 * Something comes every five seconds. A browser does not notice where nothing comes any more, because a cable was pulled, and
 * gives up for good on some failures: then it is tried again here.
 */
setInterval(() => {
  const silence = performance.now() - heardAt
  if (silence > 20_000 || (silence > 5000 && stream.readyState === EventSource.CLOSED)) {
    stream.close()
    lost()
    connect()
  }
}, 1000)

connect()
