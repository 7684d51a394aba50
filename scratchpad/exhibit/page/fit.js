/** Makes text fit its place: selects the largest step at which nothing overflows. */

const largest = 1
const smallest = 0.72
const step = 0.04

export const overflows = ({ clientHeight, clientWidth, scrollHeight, scrollWidth }) =>
  scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1

/**
 * Sets `--fit`, by which the style sheet multiplies its sizes. Visitors cannot read type below the smallest step. If even
 * this step overflows, the element gets the class `breaks`, which breaks long words, and then the class `scrolls`.
 */
export const fitType = (element) => {
  element.classList.remove("breaks", "scrolls")
  for (let scale = largest; scale >= smallest; scale -= step) {
    element.style.setProperty("--fit", scale.toFixed(2))
    if (!overflows(element)) {
      return
    }
  }
  element.classList.add("breaks")
  element.classList.toggle("scrolls", overflows(element))
}
