import { useEffect, useRef, useState } from "react"
import type * as client from "vitrine/client/preview"
import { type Content, isCalm, languages, type Media, wide } from "./exhibit.ts"
import { useExhibit, useLanguage, useSlideShow } from "./hooks.ts"

export default function App() {
  const { problem, shown } = useExhibit()
  // Problems are for the status of the controller. Visitors do not see them once there is content.
  return shown ? (
    <Exhibit {...shown} />
  ) : (
    <header>
      <h1>One moment, please</h1>
      <p id="status" role="status">
        {problem}
      </p>
    </header>
  )
}

const Exhibit = ({ media, ...tables }: Content) => {
  const { inLanguage, speak, spoken } = useLanguage()
  const [chosen, choose] = useState<string>()
  const article = useRef<HTMLElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  const { objects, settings } = inLanguage(tables)
  const index = Math.max(0, objects.findIndex(({ id }) => id === chosen))
  const { alt, id, text, title, year } = objects[index] ?? {}
  const { film, picture } = media.get(`${id}`) ?? {}

  // Leaves time for the text and the film. A timer ends at once if its time is no number, or weeks.
  const given = Number(settings.slideSeconds)
  const slide = given > 0 ? Math.min(given, 86_400) : 16
  const seconds = Math.max(slide, (text ?? "").length / 15, film?.seconds ?? 0)
  useSlideShow(id, seconds, () => {
    speak(languages[0])
    if (!isCalm.matches) choose(objects[(index + 1) % objects.length]?.id)
  })

  useEffect(() => {
    document.title = settings.title ?? ""
  }, [settings.title])

  // A new object begins at the top of its text, and its button is scrolled into view.
  useEffect(() => {
    article.current?.scrollTo(0, 0)
    button.current?.scrollIntoView({ block: "nearest" })
  }, [id])

  return (
    <>
      <header>
        <h1 id="title">{settings.title}</h1>
        <div id="languages">
          {(languages.length > 1 ? languages : []).map((lang) => (
            <button key={lang} type="button" lang={lang} value={lang} aria-current={lang === spoken} onClick={() => speak(lang)}>
              {new Intl.DisplayNames(lang, { type: "language" }).of(lang)}
            </button>
          ))}
        </div>
      </header>
      <main>
        <figure>
          {film && <video key={id} src={film.src} aria-label={alt} autoPlay={!isCalm.matches} controls loop muted playsInline />}
          {picture && <Picture key={id} picture={picture} sizes={wide} alt={alt} />}
        </figure>
        <article ref={article} tabIndex={0} aria-live="polite">
          <p id="year">{year}</p>
          <h2>{title}</h2>
          <p id="text">{text}</p>
        </article>
      </main>
      <nav aria-labelledby="title">
        <ul>
          {objects.map(({ id: itsId, title }) => (
            <li key={itsId}>
              <button
                type="button"
                value={itsId}
                ref={itsId === id ? button : null}
                aria-current={itsId === id}
                onClick={() => choose(itsId)}
              >
                <Thumbnail {...media.get(itsId)} />
                {title}
              </button>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}

const Thumbnail = ({ film, picture }: Media) => (
  <span className="thumbnail" aria-hidden="true">
    {film && "▶"}
    {picture && <Picture picture={picture} sizes="4rem" />}
  </span>
)

/** The browser loads the size that fits: `sizes` is the width of the picture on the screen. */
const Picture = ({ alt = "", picture: { sources, ...image }, sizes }: { alt?: string | undefined; picture: client.Picture; sizes: string }) => (
  <picture>
    {sources.map(({ srcset, type }) => (
      <source key={type} type={type} srcSet={srcset} sizes={sizes} />
    ))}
    <img {...image} alt={alt} />
  </picture>
)
