import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { exhibit } from "./exhibit.ts"

export default function App() {
  const { connection, problem, shown, version } = useSyncExternalStore(exhibit.subscribe, () => exhibit.state)
  const [chosen, choose] = useState("")
  const article = useRef<HTMLElement>(null)
  const title = shown?.settings.title
  const object = shown?.objects.find(({ id }) => id === chosen) ?? shown?.objects[0]
  useEffect(() => {
    if (title) document.title = title
  }, [title])
  // Each object begins at its top.
  useEffect(() => {
    article.current?.scrollTo(0, 0)
  }, [object?.id])
  if (!shown || !version) {
    return (
      <>
        <h1>One moment, please</h1>
        <footer role="status">{problem ?? "Waiting for content"}</footer>
      </>
    )
  }
  return (
    <>
      <h1>{title}</h1>
      <main>
        <figure>
          <img src={object?.src} alt={object?.alt ?? ""} />
        </figure>
        <article ref={article} aria-live="polite">
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
