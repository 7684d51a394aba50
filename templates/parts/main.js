/** The buttons stay the same from one drawing to the next, so that they keep the focus. */
const buttons = new Map()

const draw = () => {
  const { heading, hasPicture, id, isPlaying, isWaiting, languages, objects, shown, sound, spoken, text, title, year } = page.getState()
  document.documentElement.classList.toggle("waiting", isWaiting)
  put(find("h1"), title)
  put(find("#year"), year)
  put(find("h2"), heading)
  put(find("#text"), text)
  put(find("#sound"), sound ?? "")
  find("#sound").setAttribute("aria-pressed", `${isPlaying}`)
  put(find("figure"), ...(shown ? [shown] : []))
  find("main").classList.toggle("wordy", !hasPicture)

  const names = languages.map(({ code, name }) => {
    const button = buttons.get(code) ?? make("button", { type: "button", lang: code, value: code, onclick: () => page.speak(code) }, name)
    buttons.set(code, button)
    button.setAttribute("aria-current", `${code === spoken}`)
    return button
  })
  put(find("#languages"), ...names)

  const items = objects.map(({ id: itsId, thumbnail, title }) => {
    const key = `object ${itsId}`
    const button = buttons.get(key) ?? make("button", { type: "button", value: itsId, onclick: () => page.choose(itsId) }, make("span", { className: "thumbnail", ariaHidden: "true" }), make("span", { className: "name" }))
    buttons.set(key, button)
    button.setAttribute("aria-current", `${itsId === id}`)
    button.firstChild.setAttribute("aria-hidden", "true")
    put(button.firstChild, ...(thumbnail ? [thumbnail] : []))
    put(button.lastChild, title)
    return button.parentElement ?? make("li", {}, button)
  })
  put(find("ul"), ...items)
  arrange()
}

find("#sound").onclick = page.listen
page.subscribe(draw)
draw()
