/**
 * The page. It shows only the data of the event stream.
 */
import { ask, setActions } from "./actions.js"
import { showContents } from "./content.js"
import {
  button,
  byId,
  folded,
  forHow,
  h,
  isNarrow,
  moment,
  now,
  readable,
  setNow,
  shortTime,
  show,
  time
} from "./parts.js"
import { renderTiles, renderWellBeing } from "./tiles.js"

const toneOfWord = { OK: "ok", WARNING: "warn", HELD: "held", FAILING: "error", "NO CONTENT": "error" }

const showWord = (word, tone) => {
  document.title = [word, byId("node").textContent, "Vitrine"].filter((part) => part !== "").join(" · ")
  document.body.dataset.tone = tone
  byId("word").textContent = word
  byId("word").style.setProperty("--length", String(Math.max(4, word.length)))
  const color = getComputedStyle(byId("word")).color
  const circle = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="${color}"/></svg>`
  byId("icon").href = `data:image/svg+xml,${encodeURIComponent(circle)}`
}

// Problems

/** How many problems are listed at first: each problem is also on a tile. */
const fewProblems = 4

const toneOfProblem = ({ code, muted, severity, unwatched }) =>
  muted !== undefined || unwatched !== undefined
    ? "neutral"
    : code === "content:held"
      ? "held"
      : severity === "error"
        ? "error"
        : "warn"

/** The names that can be muted: this problem, or all problems of its player. */
const namesOf = ({ code, player, subject }) => {
  const own = [player, code, subject].filter((part) => part !== undefined).join(" ")
  const whole = player ?? (code.startsWith("player:") ? subject : undefined)
  return [
    [own, "this problem"],
    ...(whole === undefined ? [] : [[whole, `player ${whole}, whatever it has`]])
  ]
}

const renderMute = (problem) => {
  const names = namesOf(problem)
  const [[own]] = names
  const { muted } = problem
  return muted === undefined
    ? button(`mute ${own}`, "Mute", () =>
        ask("Mute", `No alerts about ${own} until …`, { type: "problem.mute" }, names)
      )
    : button(`mute ${own}`, "Unmute", () =>
        ask("Unmute", `Send alerts about ${muted.name} again?`, { type: "problem.unmute", name: muted.name })
      )
}

const renderAccept = ({ accept: type, code, subject }) =>
  type === undefined
    ? []
    : [
        button(`accept ${code} ${subject}`, "Accept", () =>
          ask(
            "Accept",
            `Accept ${code} of ${subject}? The warning ends, and comes back only if it is over in between.`,
            {
              type,
              code,
              subject
            }
          )
        ),
        " "
      ]

/** The text without the command of the command line: the page has a button for it. */
const textBesideButtons = ({ accept, code, text }) =>
  accept !== undefined || code === "content:held" ? text.replace(/ \("vitrine \w+"\)$/, "") : text

const renderProblem = (actions) => (problem) => {
  const { count, muted, since, unwatched } = problem
  const facts = [
    ...(since === undefined ? [] : [forHow(since)]),
    ...(count === undefined || count < 2 ? [] : [`${count} times since the start`]),
    ...(muted === undefined ? [] : [["muted until ", time(muted.until), ` by ${muted.by}`]]),
    ...(unwatched === undefined ? [] : [`no longer watched: ${unwatched}`])
  ]
  return h(
    "li",
    { tone: toneOfProblem(problem) },
    readable(actions === "off" ? problem.text : textBesideButtons(problem)),
    " ",
    facts.length === 0
      ? []
      : h(
          "small",
          {},
          facts.flatMap((fact, index) => (index === 0 ? [fact] : [", ", fact]))
        ),
    muted?.why === undefined ? [] : h("small", { className: "why" }, ` ${muted.why}`),
    actions === "off" ? [] : [" ", renderAccept(problem), renderMute(problem)]
  )
}

const showProblems = (overview) => {
  const { actions, players, problemCount = 0, problems, screens } = overview
  const more = problemCount - problems.length
  show("problems", problems.length === 0 ? [players, screens] : [problems, more, actions], () =>
    problems.length === 0
      ? h("p", {}, renderWellBeing(overview))
      : [
          folded("problems", fewProblems, {}, problems.map(renderProblem(actions))),
          more > 0 ? h("p", {}, `There are ${more} more problems.`) : []
        ]
  )
}

// The log

const showLog = (lines) => {
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

// The event stream

/** The controller's time of the last event, and the last overview. */
let seen
let seenAt
let isAway = false

/** Old data allows no action, and does not say that everything works. */
const setAway = (away) => {
  isAway = away
  document.body.classList.toggle("away", away)
  for (const id of ["contents", "problems", "changed", "tiles"]) {
    byId(id).inert = away
  }
  byId("problems").hidden = away && seen?.problems.length === 0
}

const showOverview = (overview) => {
  const { actions, contents, node, pictures, players, screens, startTime, word } = overview
  seen = overview
  setAway(false)
  setActions(actions)
  document.body.classList.toggle("hub", players !== undefined)
  byId("node").textContent = node?.label ?? node?.id ?? ""
  byId("lost").textContent = ""
  showWord(word, toneOfWord[word] ?? "warn")
  show("connection", "live", () => [`live from ${location.host}`])
  show("running", startTime, () => ["running since ", moment(startTime)])
  showProblems(overview)
  show("tiles", { actions, content: contents[0]?.name, pictures, players, screens }, renderTiles)
  showContents(overview)
}

const lost = () => {
  if (isAway) {
    return
  }
  setAway(true)
  showWord("NO CONNECTION", "neutral")
  show("connection", "lost", () => ["not connected"])
  byId("lost").replaceChildren(
    ...(seenAt === undefined
      ? ["The controller has sent nothing yet. Trying again …"]
      : [
          "What is shown is of ",
          time(seenAt),
          `, when the word was ${seen?.word ?? "not known"}. Reconnecting …`
        ])
  )
}

/** The stream is open, but nothing arrives. */
const waiting = () => {
  byId("lost").textContent =
    "The controller is connected, but has sent nothing for 5 s: it is busy, or cannot read its state. See its log."
}

let stream
let heardAt
let hasBegun

const connect = () => {
  heardAt = performance.now()
  hasBegun = false
  stream = new EventSource("events")
  const listen = (name, take) =>
    stream.addEventListener(name, ({ data }) => {
      heardAt = performance.now()
      hasBegun = true
      take(JSON.parse(data))
      seenAt = new Date(now()).toISOString()
    })
  listen("now", setNow)
  listen("overview", showOverview)
  listen("log", showLog)
  stream.onerror = lost
}

/**
 * An event arrives every five seconds. A browser does not notice a pulled cable, and gives up for good after some failures:
 * then the page connects again.
 */
setInterval(() => {
  const silence = performance.now() - heardAt
  if (silence > 20_000 || (silence > 5000 && stream.readyState === EventSource.CLOSED)) {
    stream.close()
    lost()
    connect()
  } else if (silence > 5000 && !hasBegun && stream.readyState === EventSource.OPEN) {
    waiting()
  }
}, 1000)

connect()
