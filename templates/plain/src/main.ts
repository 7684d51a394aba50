/// <reference types="vite/client" />
import { connect, type Version } from "vitrine/client/preview"
import "./style.css"

/** That of the objects and their pictures. */
const source = "exhibits"

/** Everything of a version, and its pictures loaded: it is shown as a whole, or not at all. */
const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map(({ picture, ...row }) => ({
    ...row,
    id: String(row.id),
    src: picture && version.picture(source, picture).src
  }))
  await version.preload(objects.flatMap(({ src }) => src || []))
  return { settings, objects }
}

type Loaded = Awaited<ReturnType<typeof load>>
type Item = Loaded["objects"][number]

const find = (selector: string) => document.querySelector<HTMLElement>(selector)!
let chosen: string | undefined

const picture = ({ alt = "", src = "" }: Item) => Object.assign(new Image(), { alt, src })

const choose = (object: Item) => {
  chosen = object.id
  find("figure").replaceChildren(picture(object))
  find("#year").textContent = object.year ?? ""
  find("h2").textContent = object.title
  find("#text").textContent = object.text ?? ""
  find("article").scrollTop = 0
  for (const button of document.querySelectorAll<HTMLButtonElement>("nav button")) {
    button.setAttribute("aria-current", `${button.value === chosen}`)
  }
}

const itemOf = (object: Item) => {
  const button = document.createElement("button")
  button.value = object.id
  button.onclick = () => choose(object)
  button.append(picture({ ...object, alt: "" }), object.title)
  const item = document.createElement("li")
  item.append(button)
  return item
}

const exhibit = connect({
  load,
  show: ({ objects, settings }) => {
    document.title = find("h1").textContent = settings.title ?? ""
    const focused = document.activeElement?.getAttribute("value")
    find("ul").replaceChildren(...objects.map(itemOf))
    const object = objects.find(({ id }) => id === chosen) ?? objects[0]
    if (object) choose(object)
    for (const button of document.querySelectorAll<HTMLButtonElement>("nav button")) {
      if (button.value === focused) button.focus()
    }
  }
})

const say = () => {
  const { connection, problem, version } = exhibit.state
  document.documentElement.classList.toggle("waiting", !version)
  const note = connection === "offline" ? ", offline: it stays until there is another one" : ""
  find("footer").textContent = version ? `Version ${version.id}${note}` : (problem ?? "Waiting for content")
}
exhibit.subscribe(say)
say()
