/**
 * Pictures of screens: the button that asks for a picture, and the last picture, which the page keeps until there is another one.
 */
import { ask, lastPicture } from "./actions.js"
import { button, byId, h, moment } from "./parts.js"

/** The figure of each screen, with the time and the address of its picture. */
const figures = new Map()

const figureOf = ({ id }) => {
  if (!figures.has(id)) {
    figures.set(id, { element: h("figure", { hidden: true }) })
  }
  return figures.get(id)
}

const setPicture = (figure, address, ...children) => {
  URL.revokeObjectURL(figure.address)
  figure.address = address
  figure.element.hidden = address === undefined
  figure.element.replaceChildren(...children)
}

const showPicture = async (screen, response) => {
  const figure = figureOf(screen)
  const src = URL.createObjectURL(await response.blob())
  figure.takenAt = response.headers.get("Vitrine-Taken-At")
  const alt = `Picture of ${screen.name}`
  const enlarge = button(`enlarge ${screen.id}`, h("img", { alt, src }), () => {
    Object.assign(byId("large"), { alt, src })
    byId("picture").showModal()
  })
  setPicture(figure, src, enlarge, h("figcaption", {}, screen.name, ", ", moment(figure.takenAt)))
  return {}
}

byId("close").onclick = () => byId("picture").close()

/** The last picture of a screen, which another page may have asked for. */
export const renderPicture = (times) => (screen) => {
  const figure = figureOf(screen)
  const takenAt = times.find((time) => time.screen === screen.id)?.takenAt
  if (figure.takenAt !== takenAt) {
    figure.takenAt = takenAt
    setPicture(figure)
    if (takenAt !== undefined) {
      lastPicture(screen.id).then((response) => response && showPicture(screen, response))
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
