/**
 * Makes the drawing that stands for an object: the same for the same inventory number, on every screen and at every
 * start.
 */

import { chance } from "./engraving.js"
import { aura, figures } from "./figures.js"

const namespace = "http://www.w3.org/2000/svg"

const pathElement = (kind, data) => {
  const element = document.createElementNS(namespace, "path")
  element.setAttribute("class", kind)
  element.setAttribute("d", data)
  return element
}

/** An SVG for the inventory number; `figure` names what to draw, and chance picks where it names nothing known. */
export const ornament = (inventory, figure) => {
  const random = chance(inventory)
  const names = Object.keys(figures)
  const picked = names[Math.floor(random() * names.length)]
  const draw = figures[names.includes(figure) ? figure : picked]
  const drawing = document.createElementNS(namespace, "svg")
  drawing.setAttribute("viewBox", "-500 -500 1000 1000")
  drawing.setAttribute("aria-hidden", "true")
  drawing.append(
    pathElement("aura", aura(random)),
    ...draw(random).map(({ kind, path }) => pathElement(kind, path))
  )
  return drawing
}
