/**
 * Puts an exhibit on the screen. It owns the DOM: the masthead, the index with every object, and two leaves that show
 * one large object in turn. Content only becomes text, and only changed elements are updated.
 */

import { fitType, overflows } from "./fit.js"

const find = (selector, within = document) => within.querySelector(selector)

const fromTemplate = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true)

/** Shows a text in the accent colour for a moment. A separate animation, so that no other animation restarts. */
const highlight = (element) => {
  element.animate(
    [
      { opacity: 0, color: "var(--accent)" },
      { opacity: 1, color: "var(--accent)", offset: 0.12 },
      { opacity: 1, color: "var(--accent)", offset: 0.6 },
      {}
    ],
    { duration: 4000 }
  )
}

/** Writes a text if it differs, and highlights the change unless the element is new on the screen. */
const write = (element, text, fresh) => {
  element.hidden = text === ""
  if (element.textContent === text) {
    return
  }
  element.textContent = text
  if (!fresh) {
    highlight(element)
  }
}

const roomColour = (exhibit, room) => `var(--room-${exhibit.rooms.indexOf(room) % 6})`

const captionTexts = (exhibit, object) => ({
  room: object.room,
  title: object.title,
  year: exhibit.showYear ? object.year : "",
  maker: exhibit.showMaker ? object.maker : "",
  text: object.text,
  material: object.material,
  inventory: object.key
})

/** One of the two leaves: a plate with the picture, empty without a picture, and a caption. */
const leafView = (element) => {
  const plate = find(".plate", element)
  const caption = find(".caption", element)
  let shown = null

  const hang = (image, picture) => {
    if (image === undefined) {
      plate.replaceChildren()
      return
    }
    image.alt = picture.alt
    image.className = picture.isDrawing ? "drawing" : "photograph"
    image.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight || 1)
    plate.replaceChildren(image)
  }

  /** `image` is an image element, ready to be painted, or `undefined`. */
  const fill = (exhibit, object, image) => {
    const same = shown?.key === object.key
    if (!same) {
      caption.replaceChildren(fromTemplate("caption"))
      caption.scrollTop = 0
    }
    element.style.setProperty("--ground", roomColour(exhibit, object.room))
    for (const [part, text] of Object.entries(captionTexts(exhibit, object))) {
      write(find(`[data-part="${part}"]`, caption), text, !same)
    }
    hang(image, object.picture)
    if (same && shown.picture?.id !== object.picture?.id) {
      plate.animate([{ opacity: 0 }, {}], { duration: 1200 })
    }
    shown = object
    element.dataset.featured = object.key
    fitType(caption)
  }

  return {
    fill,
    refit: () => {
      if (shown !== null) {
        fitType(caption)
      }
    },
    show: (current) => element.classList.toggle("current", current)
  }
}

const indexView = (list, onPick) => {
  const entries = new Map()

  const entryOf = (key) => {
    const entry = fromTemplate("entry")
    entry.dataset.object = key
    find("button", entry).addEventListener("click", () => onPick(key))
    entries.set(key, entry)
    return entry
  }

  const fill = (exhibit) => {
    const inOrder = exhibit.objects.map((object) => {
      const known = entries.get(object.key)
      const entry = known ?? entryOf(object.key)
      write(find('[data-field="title"]', entry), object.title, known === undefined)
      return entry
    })
    const kept = new Set(inOrder)
    for (const [key, entry] of entries) {
      if (!kept.has(entry)) {
        entries.delete(key)
      }
    }
    if (inOrder.length !== list.children.length || inOrder.some((entry, at) => list.children[at] !== entry)) {
      list.replaceChildren(...inOrder)
    }
    refit()
  }

  /** Tells the style sheet whether the entries fit. */
  const refit = () => {
    list.classList.remove("scrolls")
    list.classList.toggle("scrolls", overflows(list))
  }

  const mark = (key) => {
    for (const [each, entry] of entries) {
      if (each === key) {
        entry.setAttribute("aria-current", "true")
      } else {
        entry.removeAttribute("aria-current")
      }
    }
    const entry = entries.get(key)
    if (entry !== undefined && overflows(list)) {
      list.scrollTo({ top: entry.offsetTop - list.clientHeight / 2, behavior: "smooth" })
    }
  }

  return { fill, mark, refit }
}

/**
 * `{ swap(exhibit, images), feature(key), status({ connection, problem, version }) }`. `swap` changes the whole screen in
 * one go, the images being elements by the objects' keys, and `feature` makes another object the large one.
 * `onPick(key)` is called when a visitor picks an object.
 */
export const screen = (onPick) => {
  const leaves = Array.from(document.querySelectorAll(".leaf"), leafView)
  const index = indexView(find(".index"), (key) => {
    onPick(key)
    // On a hand-held screen the list is far below.
    find(".stage").scrollIntoView()
  })
  const masthead = find(".masthead")
  const hours = find(".hours")
  let exhibit = null
  let images = new Map()
  let featured = null

  const objectOf = (key) => exhibit.objects.find((object) => object.key === key)

  const writeHours = (lines, fresh) => {
    while (hours.children.length > lines.length) {
      hours.lastElementChild.remove()
    }
    for (const [at, text] of lines.entries()) {
      write(hours.children[at] ?? hours.appendChild(document.createElement("p")), text, fresh)
    }
  }

  const swap = (next, nextImages) => {
    const fresh = exhibit === null
    exhibit = next
    images = nextImages
    document.documentElement.lang = next.language
    for (const setting of ["museum", "title", "subtitle"]) {
      write(find(`[data-setting="${setting}"]`), next[setting], fresh)
    }
    fitType(masthead)
    writeHours(next.openingHours, fresh)
    index.fill(next)
    document.title = [next.title, next.museum].filter(Boolean).join(" · ") || "Exhibit"
    document.body.style.setProperty("--accent", next.accent)
    document.body.dataset.state = next.objects.length === 0 ? "waiting" : "showing"
    const object = objectOf(featured)
    if (object !== undefined) {
      leaves[0].fill(next, object, images.get(featured))
    }
  }

  const feature = (key) => {
    if (key !== featured) {
      featured = key
      leaves.reverse()
      leaves[0].fill(exhibit, objectOf(key), images.get(key))
      leaves[0].show(true)
      leaves[1].show(false)
    }
    index.mark(key)
  }

  const status = ({ connection, problem, version }) => {
    find(".version").textContent = version === undefined ? "" : `Version ${version.id}`
    find(".connection").textContent =
      problem === undefined || connection === "offline"
        ? connection
        : `${connection}, newer version incomplete`
  }

  let refitTimer
  const refit = () => {
    clearTimeout(refitTimer)
    refitTimer = setTimeout(() => {
      fitType(masthead)
      for (const part of [index, ...leaves]) {
        part.refit()
      }
    }, 150)
  }
  addEventListener("resize", refit)
  document.fonts.addEventListener("loadingdone", refit)

  return { swap, feature, status }
}
