/// <reference types="vite/client" />
import { language } from "vitrine/client/helpers"
import { connect, type Picture, type PictureFile, type Version } from "vitrine/client/preview"
import "./style.css"

const source = "exhibits" // has the objects and their pictures
const languages = ["en", "de"] as const // the first is shown until a visitor chooses; a single language has no buttons

const find = (selector: string) => document.querySelector<HTMLElement>(selector)!
const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Partial<HTMLElementTagNameMap[Name]>,
  ...children: ReadonlyArray<Node | string>
) => {
  const element = Object.assign(document.createElement(name), attributes)
  element.append(...children)
  return element
}

// 1. Loading: everything of a version is loaded before it is shown.

const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map((row) => ({ ...row, id: String(row.id) }))
  const media = objects.map(async ({ id, picture }) => [id, await mediaOf(version, picture)] as const)
  return { settings, objects, media: new Map(await Promise.all(media)) }
}

// A picture or a film, loaded and ready to be shown, and the picture for its button.
const mediaOf = async (version: Version, file: string | PictureFile | undefined) => {
  if (!file) return { thumbnail: "" }
  const picture = version.picture(source, file)
  if (/\.(mp4|m4v|mov|ogv|webm)$/i.test(typeof file === "string" ? file : file.localPath)) {
    const [film] = await version.preload([picture.src])
    return { shown: Object.assign(film!, { controls: true, loop: true, muted: true }), thumbnail: "▶" }
  }
  const shown = pictureOf(picture, "(orientation: landscape) 40vw, 90vw")
  await shown.querySelector("img")!.decode().catch(() => {
    throw new Error(`${picture.src} cannot be shown`)
  })
  return { shown, thumbnail: pictureOf(picture, "4rem") }
}

// The browser loads the size that fits: "sizes" is the width of the picture on the screen.
const pictureOf = ({ sources, ...attributes }: Picture, sizes: string) => {
  const image = make("img", { ...attributes, alt: "" })
  return make("picture", {}, ...sources.map((source) => make("source", { ...source, sizes })), image)
}

// 2. Showing: a list of all objects, and one object, in one language.

let content: Awaited<ReturnType<typeof load>> | undefined
let spoken: (typeof languages)[number] = languages[0]
let chosen: string | undefined

// The chosen language comes first; missing texts come from the other languages.
const tables = () => {
  const { objects = [], settings = {} } = content ?? {}
  return language({ objects, settings }, ...new Set([spoken, ...languages]))
}

const draw = () => {
  const { objects, settings } = tables()
  const focused = document.activeElement?.getAttribute("value")
  document.documentElement.lang = spoken
  document.title = find("h1").textContent = settings.title ?? ""
  find("#languages").replaceChildren(...(languages.length > 1 ? languages.map(languageButton) : []))
  find("ul").replaceChildren(...objects.map(({ id, title }) => make("li", {}, objectButton(id, title))))
  choose(objects.some(({ id }) => id === chosen) ? chosen : objects[0]?.id)
  for (const button of document.querySelectorAll("button")) if (button.value === focused) button.focus()
}

const languageButton = (lang: typeof spoken) => {
  const name = new Intl.DisplayNames(lang, { type: "language" }).of(lang) ?? lang
  const button = make("button", { lang, value: lang, onclick: () => speak(lang) }, name)
  button.setAttribute("aria-current", `${lang === spoken}`)
  return button
}

const objectButton = (id: string, title: string) => {
  const thumbnail = make("span", { className: "thumbnail" }, content?.media.get(id)?.thumbnail ?? "")
  thumbnail.setAttribute("aria-hidden", "true")
  return make("button", { value: id, onclick: () => choose(id) }, thumbnail, title)
}

const speak = (lang: typeof spoken) => {
  spoken = lang
  draw()
}

// A new object begins at the top of its text and at the start of its film, and its button is scrolled into view.
const choose = (id: string | undefined) => {
  const { alt = "", text = "", title = "", year = "" } = tables().objects.find((object) => object.id === id) ?? {}
  const { shown } = content?.media.get(`${id}`) ?? {}
  find("#year").textContent = year
  find("h2").textContent = title
  find("#text").textContent = text
  shown?.querySelector("img")?.setAttribute("alt", alt)
  if (shown instanceof HTMLVideoElement) shown.setAttribute("aria-label", alt)
  if (!find("figure").contains(shown ?? null)) {
    find("figure").replaceChildren(...(shown ? [shown] : []))
    if (shown instanceof HTMLVideoElement) play(shown)
  }
  if (id !== chosen) find("article").scrollTop = 0
  chosen = id
  for (const button of document.querySelectorAll<HTMLButtonElement>("nav button")) {
    button.setAttribute("aria-current", `${button.value === id}`)
    if (button.value === id) button.scrollIntoView({ block: "nearest" })
  }
  wait()
}

const play = (film: HTMLVideoElement) => {
  film.currentTime = 0
  if (!isCalm.matches) film.play().catch(() => {})
}

// 3. The slide show: continues after the time for the text and the film, if there was no visitor for a minute.

const isCalm = matchMedia("(prefers-reduced-motion: reduce)")
let timer: ReturnType<typeof setTimeout>
let visited = Number.NEGATIVE_INFINITY // the time of a visitor's last action

const wait = () => {
  const { objects, settings } = tables()
  const { text = "" } = objects.find(({ id }) => id === chosen) ?? {}
  const { duration = 0 } = document.querySelector<HTMLVideoElement>("figure video") ?? {}
  const film = Number.isFinite(duration) ? duration : 0 // a stream has no end
  const given = Number(settings.slideSeconds)
  const slide = given > 0 ? Math.min(given, 86_400) : 16 // a timer ends at once if its time is no number, or weeks
  const seconds = Math.max(slide, text.length / 15, film)
  clearTimeout(timer)
  timer = setTimeout(next, Math.max(seconds * 1000, visited + 60_000 - performance.now()))
}

const next = () => {
  if (spoken !== languages[0]) speak(languages[0])
  const { objects } = tables()
  const index = objects.findIndex(({ id }) => id === chosen)
  choose(isCalm.matches ? chosen : objects[(index + 1) % objects.length]?.id)
}

for (const event of ["click", "keydown", "pointerdown", "touchmove", "wheel"]) {
  addEventListener(event, () => {
    visited = performance.now()
    wait()
  })
}

// 4. The connection. Problems are for the status of the controller. Visitors do not see them once there is content.

const exhibit = connect({
  load,
  show: (loaded) => {
    content = loaded
    draw()
  }
})

const say = () => {
  const { problem = "", version } = exhibit.state
  document.documentElement.classList.toggle("waiting", !version)
  find("#status").textContent = version ? "" : problem
}
exhibit.subscribe(say)
say()
