/**
 * The building blocks of the page: elements, times and numbers. Text is never parsed as HTML.
 */

export const byId = (id) => document.getElementById(id)

/** An element. The properties in `data` become data attributes. Children are text or elements. */
export const h = (name, { data = {}, tone, ...properties } = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  Object.assign(element.dataset, data, tone === undefined ? {} : { tone })
  element.append(...children.flat(Number.POSITIVE_INFINITY))
  return element
}

const rendered = new Map()

/** Replaces the children of an element if its data has changed. The focus stays. */
export const show = (id, data, render) => {
  const key = JSON.stringify(data)
  if (rendered.get(id) === key) {
    return
  }
  rendered.set(id, key)
  const element = byId(id)
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.button : undefined
  element.replaceChildren(...[render(data)].flat(Number.POSITIVE_INFINITY))
  if (focused !== undefined) {
    element.querySelector(`[data-button="${CSS.escape(focused)}"]`)?.focus()
  }
}

/** A button; `name` must be unique. */
export const button = (name, label, onclick) =>
  h("button", { type: "button", data: { button: name }, onclick }, label)

export const entry = (label, value, tone) => [h("dt", {}, label), h("dd", { tone }, value)]

export const nothing = (text) => h("p", { className: "muted" }, text)

/** Whether the page is as narrow as on a phone: then fewer lists are open at first. */
export const isNarrow = matchMedia("(max-width: 40rem)").matches

const opened = new Set()

/** A button that opens and closes a part, and keeps its state. `update` gets whether the part is open, and returns the label. */
export const toggle = (name, update) => {
  const element = button(name, "", () => {
    if (!opened.delete(name)) {
      opened.add(name)
    }
    fold()
  })
  const fold = () => {
    element.textContent = update(opened.has(name))
    element.ariaExpanded = String(opened.has(name))
  }
  fold()
  return element
}

/** A list that begins with a few entries; the button below shows all entries. */
export const folded = (name, few, properties, entries) => {
  const list = h("ul", properties, entries)
  const rest = [...list.children].slice(few)
  if (rest.length === 0) {
    return [list]
  }
  const more = toggle(name, (isOpen) => {
    for (const entry of rest) {
      entry.hidden = !isOpen
    }
    return isOpen ? `Show ${few}` : `Show all ${entries.length}`
  })
  more.className = "fold"
  return [list, more]
}

// Times

/** How far the clock of the controller is ahead of this one, in milliseconds. */
let ahead = 0

export const setNow = (millis) => {
  ahead = millis - Date.now()
}

export const now = () => Date.now() + ahead

const clockTime = new Intl.DateTimeFormat(undefined, {
  hourCycle: "h23",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit"
})
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  hourCycle: "h23",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit"
})
const dateAndTime = new Intl.DateTimeFormat(undefined, {
  dateStyle: "long",
  hourCycle: "h23",
  timeStyle: "short"
})

const isToday = (date) => date.toDateString() === new Date(now()).toDateString()

/** Does not break across lines. */
export const shortTime = (iso) => {
  const date = new Date(iso)
  return (isToday(date) ? clockTime : dayAndTime).format(date).replaceAll(" ", "\u00a0")
}

export const longTime = (iso) => dateAndTime.format(new Date(iso))

/** The time in a version id. */
export const timeOf = (versionId) =>
  versionId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6Z")

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1]
]

/** `20 s`, `5 min`, `2 h 13 min`: no seconds beside minutes, so that the page is calm. */
export const duration = (millis) => {
  const seconds = Math.max(0, Math.round(millis / 1000))
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first === -1) {
    return "0 s"
  }
  const [unit, size] = units[first]
  const [smaller, smallerSize] = units[first + 1] ?? ["s", 1]
  const rest = Math.floor((seconds % size) / smallerSize)
  const whole = `${Math.floor(seconds / size)} ${unit}`
  return rest === 0 || smaller === "s" ? whole : `${whole} ${rest} ${smaller}`
}

const ways = {
  due: (millis) => (millis < 1000 ? "now" : `in ${duration(millis)}`),
  for: (millis) => `for ${duration(-millis)}`,
  distance: (millis) =>
    Math.abs(millis) < 1000 ? "now" : millis > 0 ? `in ${duration(millis)}` : `${duration(-millis)} ago`
}

const relative = (way) => (iso) => {
  const text = ways[way](Date.parse(iso) - now())
  return h("span", { className: "age", data: { at: iso, way }, title: longTime(iso) }, text)
}

/** `5 min ago`, `in 8 s`; updates itself. */
export const age = relative("distance")

/** `in 8 s`, then `now`; updates itself. */
export const due = relative("due")

/** `for 5 min`; updates itself. */
export const forHow = relative("for")

setInterval(() => {
  for (const element of document.querySelectorAll(".age")) {
    const text = ways[element.dataset.way](Date.parse(element.dataset.at) - now())
    if (element.textContent !== text) {
      element.textContent = text
    }
  }
}, 1000)

export const time = (iso) => h("time", { dateTime: iso, title: longTime(iso) }, shortTime(iso))

/** A time with its distance from now. */
export const moment = (iso) => h("span", {}, time(iso), " (", age(iso), ")")

const isoTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z|\bversion (\d{8}T\d{6}Z(?:-\d\d)?)/

/** Text of the controller, with ISO times as local times, and versions by their times. */
export const readable = (text) => {
  const found = isoTime.exec(text)
  if (found === null) {
    return [text]
  }
  const [whole, versionId] = found
  return [
    text.slice(0, found.index),
    ...(versionId === undefined ? [time(whole)] : ["the version of ", time(timeOf(versionId))]),
    ...readable(text.slice(found.index + whole.length))
  ]
}

// Figures

export const count = (number, what) => `${number.toLocaleString()}\u00a0${what}${number === 1 ? "" : "s"}`

export const size = (bytes) => {
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return power === 0
    ? count(bytes, "byte")
    : `${(bytes / 1024 ** power).toFixed(1)} ${["KiB", "MiB", "GiB", "TiB"][power - 1]}`
}
