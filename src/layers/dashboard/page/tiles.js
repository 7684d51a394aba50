/**
 * Screens and players, each as a tile with the colour of its state.
 */
import { ask } from "./actions.js"
import { button, count, forHow, h, moment, nothing, readable, shortTime, timeOf, toggle } from "./parts.js"
import { renderPicture, renderPictureButton } from "./pictures.js"

const total = (words) => Object.values(words).reduce((sum, number) => sum + number, 0)

/** `38 up to date, 1 behind` */
const inWords = (words) =>
  Object.entries(words)
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `${number.toLocaleString()} ${word}`)
    .join(", ")

/** The number of tiles that are not listed, by `word`. */
const restOf = ({ shown, words }) =>
  Object.fromEntries(
    Object.entries(words).map(([word, all]) => [
      word,
      all - shown.filter((tile) => tile.word === word).length
    ])
  )

const isFine = ({ tone }) => tone === "ok" || tone === "held"

/** A version by its time: small tiles and screens have no room for more. */
const renderVersion = (versionId) =>
  h(
    "small",
    { className: "muted", title: `Version ${versionId}` },
    h("span", { className: "prefix" }, "version of "),
    shortTime(timeOf(versionId))
  )

const renderUnwell = ({ name, tone, word }) =>
  h("li", { tone }, name, " ", h("span", { className: "state" }, word))

const renderAsked = (type) => (screen) => {
  const act = (label, action, question) =>
    button(`${action} ${screen.id}`, label, () => ask(label, question, { type, screen: screen.id, action }))
  return h(
    "li",
    { className: "asked" },
    h("span", {}, screen.name),
    act("Show name", "identify", `Show the name of ${screen.name} on the screen for ten seconds?`),
    act("Reload", "reload", `Load the page of ${screen.name} again?`),
    renderPictureButton(screen)
  )
}

/** The name of a tile. A click opens the actions of its screens, and the next click closes them. */
const renderName = ({ actions, content }, { asked = [], name, ...tile }) => {
  if (actions === "off" || asked.length === 0) {
    return [h("strong", {}, name)]
  }
  const list = h("ul", {}, asked.map(renderAsked(`${tile.content ?? content}.screen`)))
  const title = toggle(`tile ${asked[0].id}`, (isOpen) => {
    list.hidden = !isOpen
    return name
  })
  return [h("strong", {}, title), list]
}

/** On a hub, tiles without problems are small. */
const renderTile = (isHub, context) => (tile) => {
  const { isUnexpected, percent, screens, since, text, tone, versionId, word } = tile
  const isSmall = isHub && isFine(tile)
  const [name, asked = []] = renderName(context, tile)
  const isWide = isHub && !isSmall && (text !== undefined || screens?.unwell.length > 0)
  return h(
    "li",
    { className: isSmall ? "tile small" : isWide ? "tile wide" : "tile", tone },
    name,
    versionId === undefined ? [] : [" ", renderVersion(versionId)],
    h(
      "p",
      {},
      h("span", { className: "state" }, percent === undefined ? word : `${word}, ${percent} %`),
      since === undefined || isSmall ? [] : [" ", forHow(since)],
      screens === undefined ? [] : h("span", { className: "muted" }, `, ${count(screens.count, "screen")}`),
      isUnexpected ? h("span", { className: "muted" }, ", not expected") : []
    ),
    text === undefined ? [] : h("p", { className: "text" }, readable(text)),
    screens === undefined || screens.unwell.length === 0 ? [] : h("ul", {}, screens.unwell.map(renderUnwell)),
    asked,
    context.actions === "off" ? [] : (tile.asked ?? []).map(renderPicture(context.pictures))
  )
}

const renderGroup = (title, isHub, { shown, words }, context, none) => {
  const rest = total(words) - shown.length
  return [
    h("h2", {}, title, shown.length === 0 ? [] : h("small", {}, inWords(words))),
    shown.length === 0
      ? nothing(none)
      : h("ul", { className: "tiles" }, shown.map(renderTile(isHub, context))),
    rest > 0 ? nothing(`and ${rest.toLocaleString()} more: ${inWords(restOf({ shown, words }))}`) : []
  ]
}

/** The players of a hub first, then its own screens, if it has some. The content is that of the players. */
export const renderTiles = ({ players, screens, ...context }) => [
  players === undefined ? [] : renderGroup("Players", true, players, context, "No player has reported yet."),
  players !== undefined && screens.shown.length === 0
    ? []
    : renderGroup(
        "Screens",
        false,
        screens,
        context,
        "A screen is listed here when it reports its version, or if the configuration expects it."
      )
]

const away = ["silent", "closed", "never seen", "stopped", "closed for the day"]

const sum = (words, isCounted) =>
  total(Object.fromEntries(Object.entries(words).filter(([word]) => isCounted(word))))

const works = ["up to date", "copying", "held", "showing"]

/** A screen or player that is not expected may be away without a problem. */
const allWorks = (words) => sum(words, (word) => !works.includes(word)) === 0

/** The text if there is no problem. */
export const renderWellBeing = ({ players, screens }) => {
  if (players !== undefined && total(players.words) > 0) {
    const isAll = allWorks(players.words) && allWorks(screens.words)
    return [`${isAll ? "Everything works" : "No problem is known"}: ${inWords(players.words)}.`]
  }
  const heard = sum(screens.words, (word) => !away.includes(word))
  if (heard > 0) {
    return allWorks(screens.words)
      ? [`Everything works, on ${count(heard, "screen")}.`]
      : [`No problem is known: ${inWords(screens.words)}.`]
  }
  if (screens.words["closed for the day"] > 0) {
    return ["Closed for the day."]
  }
  const last = screens.shown
    .flatMap(({ since, word }) => (away.includes(word) && since !== undefined ? [since] : []))
    .sort()
    .at(-1)
  return last === undefined
    ? ["The controller works. No screen has reported yet."]
    : ["The controller works. No screen has reported since ", moment(last), "."]
}
