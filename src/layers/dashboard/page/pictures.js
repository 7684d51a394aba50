/**
 * Pictures of screens: the button that asks for a picture, and the last picture, which the page keeps until there is another one.
 */
import { ask, lastPicture } from "./actions.js"
import { button, byId, h, moment } from "./parts.js"

/**
 * The figure of each screen: the time and the address of its picture, the number of the request that brought it, and `listed`, the time
 * of the last picture at the controller.
 */
const figures = new Map()

const figureOf = (screen) => {
  const figure = figures.get(screen.id) ?? { element: h("figure", { hidden: true }), number: 0 }
  figures.set(screen.id, Object.assign(figure, { screen }))
  return figure
}

let requests = 0

const nextNumber = () => {
  requests += 1
  return requests
}

const setPicture = (figure, { address, number, takenAt }, ...children) => {
  URL.revokeObjectURL(figure.address)
  Object.assign(figure, { address, number, takenAt })
  figure.element.hidden = address === undefined
  figure.element.replaceChildren(...children)
}

/** Ignores the answer if a later request was faster, or if its picture is there already. */
const showPicture = async (screen, response, number = nextNumber()) => {
  const figure = figureOf(screen)
  const takenAt = response.headers.get("Vitrine-Taken-At")
  const picture = await response.blob()
  if (number < figure.number || takenAt === figure.takenAt) {
    return {}
  }
  const src = URL.createObjectURL(picture)
  const alt = `Picture of ${screen.name}`
  const enlarge = button(`enlarge ${screen.id}`, h("img", { alt, src }), () => {
    Object.assign(byId("large"), { alt, src })
    byId("picture").showModal()
  })
  const caption = h("figcaption", {}, screen.name, ", ", moment(takenAt))
  setPicture(figure, { address: src, number, takenAt }, enlarge, caption)
  return {}
}

const loadPicture = async ({ listed, screen, takenAt }) => {
  const number = nextNumber()
  const response = listed === takenAt ? undefined : await lastPicture(screen.id)
  if (response !== undefined) {
    await showPicture(screen, response, number)
  }
}

/** Without the token, this page could not have the pictures. */
addEventListener("token", () => figures.forEach(loadPicture))

byId("close").onclick = () => byId("picture").close()

/** The last picture of a screen, which another page may have asked for. */
export const renderPicture = (times) => (screen) => {
  const figure = figureOf(screen)
  const takenAt = times.find((time) => time.screen === screen.id)?.takenAt
  if (figure.listed !== takenAt) {
    figure.listed = takenAt
    if (takenAt === undefined) {
      setPicture(figure, { number: nextNumber() })
    } else {
      loadPicture(figure)
    }
  }
  return figure.element
}

/** If there is no picture, the dialog says why. */
export const renderPictureButton = (screen) =>
  button(`picture ${screen.id}`, "Picture", () =>
    ask(
      "Picture",
      `A picture of ${screen.name}: it comes within 90 seconds.`,
      { type: "picture", screen: screen.id },
      [],
      (response) => showPicture(screen, response)
    )
  )
