/**
 * The page of a new project: plain HTML, without a build.
 */

/** Its style, which pages made by Vite have as well. */
export const pageStyle = `* { box-sizing: border-box; margin: 0; padding: 0 }
html { height: 100%; background: #1d1a17; color: #f4eee2; font: clamp(16px, 2.1vmin, 34px)/1.5 Georgia, "Noto Serif", "DejaVu Serif", serif }
body { min-height: 100%; padding: 2.5em 3.5em 1.5em; display: grid; grid-template-rows: auto 1fr auto auto; gap: 1.75em }
h1, #year, footer, button { font: 1em/1.3 system-ui, "DejaVu Sans", sans-serif; letter-spacing: 0.02em }
h1, #year { color: #e0b873 }
h2 { font: 400 2.75em/1.1 Georgia, "Noto Serif", "DejaVu Serif", serif; margin: 0.2em 0 0.4em }
main { display: grid; grid-template-columns: 5fr 4fr; gap: 3.5em; align-items: center }
figure { height: 100%; min-height: 12em; padding: 2em; background: #f6f0e4; border-radius: 4px; position: relative }
figure img { position: absolute; inset: 2em; width: calc(100% - 4em); height: calc(100% - 4em); object-fit: contain }
article { max-width: 28em }
#text { font-size: 1.2em; color: #d8cfbf }
ul { display: flex; flex-wrap: wrap; gap: 1em; list-style: none }
button { display: flex; gap: 0.8em; align-items: center; min-height: 4em; padding: 0.5em 1.2em 0.5em 0.5em; text-align: left;
  color: inherit; background: #2b2722; border: 2px solid #5b5348; border-radius: 4px; cursor: pointer }
button img { width: 3em; height: 3em; padding: 0.2em; background: #f6f0e4; border-radius: 2px; object-fit: contain }
button[aria-current="true"] { border-color: #e0b873; background: #3a342b }
button:focus-visible { outline: 4px solid #fff; outline-offset: 3px }
footer { font-size: 0.8em; color: #b3a998 }
.waiting :is(main, nav), img:not([src]), img[src=""] { visibility: hidden }
@media (min-width: 50em) { main { position: sticky; top: 0; background: #1d1a17 } }
@media (max-width: 50em) {
  body { padding: 1.25em }
  main { grid-template-columns: 1fr; gap: 1.5em }
  figure { height: 45vh }
}
`

/** What is in it before there is content. */
export const pageBody = `  <h1>One moment, please</h1>
  <main>
    <figure></figure>
    <article aria-live="polite">
      <p id="year"></p>
      <h2></h2>
      <p id="text"></p>
    </article>
  </main>
  <nav aria-label="All objects"><ul></ul></nav>
  <footer role="status"></footer>
`

const indented = (text: string): string => text.replace(/^(?=.)/gm, "    ")

export const page = `<!doctype html>
<html lang="en" class="waiting">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <link rel="icon" href="data:," />
  <title>Exhibit</title>
  <style>
${indented(pageStyle)}  </style>

${pageBody}
  <script type="module">
    import { connect } from "/vitrine/preview.js"

    const source = "exhibits" // that of the objects and their pictures
    const find = (selector) => document.querySelector(selector)
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)")
    let content // what is on the screen: the settings, and the objects, each with its image
    let chosen // the object that is looked at
    let timer

    const choose = (object) => {
      chosen = object
      find("figure").replaceChildren(object.image)
      find("#year").textContent = object.year
      find("h2").textContent = object.title
      find("#text").textContent = object.text
      for (const button of document.querySelectorAll("button"))
        button.setAttribute("aria-current", button.value === object.id)
    }

    const step = (by) => {
      const { objects } = content
      choose(objects[(objects.indexOf(chosen) + by + objects.length) % objects.length])
    }

    // The next object comes by itself, but not while somebody is here, or wants no motion.
    const wait = (seconds) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (!isCalm.matches && content) step(1)
        wait(content?.settings.slideSeconds)
      }, (seconds || 16) * 1000)
    }
    for (const event of ["keydown", "pointerdown"]) addEventListener(event, () => wait(60))

    const buttonOf = (object) => {
      const button = Object.assign(document.createElement("button"), { value: object.id, onclick: () => choose(object) })
      button.append(Object.assign(object.image.cloneNode(), { alt: "" }), object.title)
      const item = document.createElement("li")
      item.append(button)
      return item
    }

    const exhibit = connect({
      // Everything of a version, and its pictures decoded: it is shown as a whole, or not at all.
      load: async (version) => {
        const settings = await version.table("exhibits", "Settings")
        const rows = await version.table(source, "Objects")
        const objects = rows.map(async ({ alt = "", picture, text = "", year = "", ...row }) => {
          const [image] = picture ? await version.preload([version.picture(source, picture).src]) : [new Image()]
          return { ...row, id: String(row.id), text, year, image: Object.assign(image, { alt }) }
        })
        return { settings, objects: await Promise.all(objects) }
      },
      show: (loaded) => {
        content = loaded
        document.title = find("h1").textContent = content.settings.title
        const focused = document.activeElement.value
        find("ul").replaceChildren(...content.objects.map(buttonOf))
        choose(content.objects.find(({ id }) => id === chosen?.id) ?? content.objects[0])
        for (const button of document.querySelectorAll("button")) if (button.value === focused) button.focus()
        wait(content.settings.slideSeconds)
      }
    })

    const say = () => {
      const { connection, problem, version } = exhibit.state
      document.documentElement.classList.toggle("waiting", !version)
      const note = connection === "offline" ? ", offline: it stays until there is another one" : ""
      find("footer").textContent = version ? \`Version \${version.id}\${note}\` : (problem ?? "Waiting for content")
    }
    exhibit.subscribe(say)
    say()
  </script>
</html>
`
