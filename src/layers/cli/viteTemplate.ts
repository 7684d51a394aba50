/**
 * The files of a page made by Vite.
 */
import { pageBody, pageStyle } from "./pageTemplate.ts"

/** As `vitrine types` makes them of the content of the example. */
const types = `// What is in the tables of this project. "vitrine types" has made this file, and makes it anew: what is changed here is lost.
export {}

declare module "vitrine/client" {
  interface Content {
    readonly exhibits: {
      readonly Objects: ReadonlyArray<{
        readonly id: string
        readonly alt?: string
        readonly picture?: string
        readonly text?: string
        readonly title: string
        readonly year?: string
      }>
      readonly Settings: {
        readonly slideSeconds?: number
        readonly title?: string
      }
    }
  }
}
`

/** Whatever the page is made of. */
export const viteFiles = {
  "vitrine.d.ts": types,
  "src/style.css": `${pageStyle}#root { display: contents }
`
}

/** Without a framework. */
export const plainFiles = {
  "vite.config.ts": `import { defineConfig } from "vite"
import { vitrine } from "vitrine/vite"

export default defineConfig({ plugins: [vitrine()] })
`,
  "index.html": `<!doctype html>
<html lang="en" class="waiting">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <link rel="icon" href="data:," />
  <title>Exhibit</title>

${pageBody}  <script type="module" src="/src/main.ts"></script>
</html>
`,
  "src/main.ts": `/// <reference types="vite/client" />
import { connect, type Version } from "vitrine/client"
import "./style.css"

/** That of the objects and their pictures. */
const source = "exhibits"

/** Everything of a version, and its pictures loaded: it is shown as a whole, or not at all. */
const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map(({ picture, ...row }) => ({
    ...row,
    id: String(row.id),
    src: picture && version.picture(source, picture).src
  }))
  await version.preload(objects.flatMap(({ src }) => src || []))
  return { settings, objects }
}

type Loaded = Awaited<ReturnType<typeof load>>
type Item = Loaded["objects"][number]

const find = (selector: string) => document.querySelector<HTMLElement>(selector)!
let chosen: string | undefined

const picture = ({ alt = "", src = "" }: Item) => Object.assign(new Image(), { alt, src })

const choose = (object: Item) => {
  chosen = object.id
  find("figure").replaceChildren(picture(object))
  find("#year").textContent = object.year ?? ""
  find("h2").textContent = object.title
  find("#text").textContent = object.text ?? ""
  for (const button of document.querySelectorAll<HTMLButtonElement>("nav button")) {
    button.setAttribute("aria-current", \`\${button.value === chosen}\`)
  }
}

const itemOf = (object: Item) => {
  const button = document.createElement("button")
  button.value = object.id
  button.onclick = () => choose(object)
  button.append(picture({ ...object, alt: "" }), object.title)
  const item = document.createElement("li")
  item.append(button)
  return item
}

const exhibit = connect({
  load,
  show: ({ objects, settings }) => {
    document.title = find("h1").textContent = settings.title ?? ""
    const focused = document.activeElement?.getAttribute("value")
    find("ul").replaceChildren(...objects.map(itemOf))
    const object = objects.find(({ id }) => id === chosen) ?? objects[0]
    if (object) choose(object)
    for (const button of document.querySelectorAll<HTMLButtonElement>("nav button")) {
      if (button.value === focused) button.focus()
    }
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
`
}

export const reactFiles = {
  "vite.config.ts": `import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { vitrine } from "vitrine/vite"

export default defineConfig({ plugins: [react(), vitrine()] })
`,
  "index.html": `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <link rel="icon" href="data:," />
  <title>Exhibit</title>

  <div id="root"></div>
  <script type="module" src="/src/main.tsx"></script>
</html>
`,
  "src/exhibit.ts": `import { connect, type Version } from "vitrine/client"

/** That of the objects and their pictures. */
const source = "exhibits"

/** Everything of a version, and its pictures loaded: it is shown as a whole, or not at all. */
export const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map(({ picture, ...row }) => ({
    ...row,
    id: String(row.id),
    src: picture && version.picture(source, picture).src
  }))
  await version.preload(objects.flatMap(({ src }) => src || []))
  return { settings, objects }
}

/** What is on the screen: it lives as long as the page. */
export const exhibit = connect({ load })
`,
  "src/App.tsx": `import { useEffect, useState, useSyncExternalStore } from "react"
import { exhibit } from "./exhibit.ts"

export default function App() {
  const { connection, problem, shown, version } = useSyncExternalStore(exhibit.subscribe, () => exhibit.state)
  const [chosen, choose] = useState("")
  const title = shown?.settings.title
  useEffect(() => {
    if (title) document.title = title
  }, [title])
  if (!shown || !version) {
    return (
      <>
        <h1>One moment, please</h1>
        <footer role="status">{problem ?? "Waiting for content"}</footer>
      </>
    )
  }
  const object = shown.objects.find(({ id }) => id === chosen) ?? shown.objects[0]
  return (
    <>
      <h1>{title}</h1>
      <main>
        <figure>
          <img src={object?.src} alt={object?.alt ?? ""} />
        </figure>
        <article aria-live="polite">
          <p id="year">{object?.year}</p>
          <h2>{object?.title}</h2>
          <p id="text">{object?.text}</p>
        </article>
      </main>
      <nav aria-label="All objects">
        <ul>
          {shown.objects.map(({ id, src, title }) => (
            <li key={id}>
              <button type="button" aria-current={id === object?.id} onClick={() => choose(id)}>
                <img src={src} alt="" />
                {title}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <footer role="status">
        Version {version.id}
        {connection === "offline" && ", offline: it stays until there is another one"}
      </footer>
    </>
  )
}
`,
  "src/main.tsx": `/// <reference types="vite/client" />
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import App from "./App.tsx"
import "./style.css"

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>
)
`
}
