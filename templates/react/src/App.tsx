// How the page looks. What it does is in exhibit.js.
import { type HTMLAttributes, useCallback, useLayoutEffect, useSyncExternalStore } from "react"
import { arrange, page } from "./exhibit.js"

export default function App() {
  const state = useSyncExternalStore(page.subscribe, page.getState)
  const { heading, hasPicture, id, isPlaying, isWaiting, languages, objects, shown, sound, spoken, text, title, year } = state

  useLayoutEffect(() => {
    document.documentElement.classList.toggle("waiting", isWaiting)
    arrange()
  }, [state])

  return (
    <>
      <header>
        <h1 id="title">{title}</h1>
        <div id="languages">
          {languages.map(({ code, name }) => (
            <button key={code} type="button" lang={code} value={code} aria-current={code === spoken} onClick={() => page.speak(code)}>
              {name}
            </button>
          ))}
        </div>
      </header>
      <main className={hasPicture ? "" : "wordy"}>
        <Place as="figure" element={shown} />
        <article tabIndex={0} aria-live="polite">
          <p id="year">{year}</p>
          <h2>{heading}</h2>
          <button id="sound" type="button" aria-pressed={isPlaying} onClick={page.listen}>
            {sound}
          </button>
          <p id="text">{text}</p>
        </article>
      </main>
      <nav aria-labelledby="title">
        <ul>
          {objects.map(({ id: itsId, thumbnail, title }) => (
            <li key={itsId}>
              <button type="button" value={itsId} aria-current={itsId === id} onClick={() => page.choose(itsId)}>
                <Place as="span" className="thumbnail" aria-hidden="true" element={thumbnail} />
                <span className="name">{title}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}

interface PlaceProps extends HTMLAttributes<HTMLElement> {
  as: "figure" | "span"
  element: HTMLElement | string | undefined
}

/** A picture or film of exhibit.js, which was loaded before it is shown. */
const Place = ({ as: Tag, element, ...attributes }: PlaceProps) => {
  const fill = useCallback((place: HTMLElement | null) => place?.replaceChildren(...(element ? [element] : [])), [element])
  return <Tag ref={fill} {...attributes} />
}
