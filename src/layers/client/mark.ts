/** Marks a page as a preview: a frame, and a line at the top. A click hides the line until its text changes. */

const yellow = "#ffc83d"

/** Sets styles one by one, because a page may forbid style attributes. Lies outside the body, which pages replace. */
export const makeMark = () => {
  const frame = document.createElement("div")
  const line = document.createElement("div")
  Object.assign(frame.style, {
    position: "fixed",
    inset: "0",
    zIndex: "2147483647",
    border: `5px solid ${yellow}`,
    pointerEvents: "none"
  })
  Object.assign(line.style, {
    width: "fit-content",
    maxWidth: "90%",
    pointerEvents: "auto",
    cursor: "pointer",
    margin: "0 auto",
    padding: "2px 14px 7px",
    borderRadius: "0 0 10px 10px",
    background: yellow,
    color: "#1c1400",
    font: "600 clamp(11px, 3vmin, 16px)/1.4 system-ui, sans-serif",
    textAlign: "center",
    overflowWrap: "anywhere"
  })
  line.setAttribute("role", "status")
  line.onclick = () => {
    line.hidden = true
  }
  frame.dataset.vitrine = "preview"
  frame.append(line)
  document.documentElement.append(frame)

  return {
    say: (text: string) => {
      if (line.textContent !== text) {
        line.textContent = text
        line.hidden = false
      }
    },
    remove: () => frame.remove()
  }
}
