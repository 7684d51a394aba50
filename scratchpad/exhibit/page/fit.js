/** Makes type fit its place: the largest step at which nothing overflows, whatever the table holds. */

const largest = 1
const smallest = 0.56
const step = 0.04

const overflows = ({ clientHeight, clientWidth, scrollHeight, scrollWidth }) =>
  scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1

/**
 * Sets `--fit`, which the style sheet multiplies its sizes with. Where even the smallest step overflows, the element
 * gets the class `cropped`, and the style sheet shortens what is in it.
 */
export const fitType = (element) => {
  element.classList.remove("cropped")
  for (let scale = largest; scale >= smallest; scale -= step) {
    element.style.setProperty("--fit", scale.toFixed(2))
    if (!overflows(element)) {
      return
    }
  }
  element.classList.add("cropped")
}
