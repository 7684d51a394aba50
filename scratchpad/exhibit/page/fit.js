/** Makes type fit its place: the largest step at which nothing overflows, whatever the table holds. */

const largest = 1
const smallest = 0.72
const step = 0.04

export const overflows = ({ clientHeight, clientWidth, scrollHeight, scrollWidth }) =>
  scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1

/**
 * Sets `--fit`, which the style sheet multiplies its sizes with. Type that is smaller than the smallest step is not read
 * from where visitors stand: where even that overflows, the element gets the class `breaks`, by which long words may be
 * broken, and then the class `scrolls`.
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
