/** Has the objects, pictures, films and sounds. */
const source = "exhibits"

/** The first is shown until a visitor chooses. A single language has no buttons. */
const languages = /** @type {const} */ (["en", "de"])

/**
 * What the page itself says. In other languages, it says it in English.
 * @type {Readonly<Record<string, { wait: string, listen: string, stop: string, film: string }>>}
 */
const words = {
  da: { wait: "Et øjeblik", listen: "Lyt", stop: "Stop", film: "Afspil eller stop filmen" },
  de: { wait: "Einen Augenblick, bitte", listen: "Anhören", stop: "Anhalten", film: "Film abspielen oder anhalten" },
  en: { wait: "One moment, please", listen: "Listen", stop: "Stop", film: "Play or pause the film" },
  es: { wait: "Un momento, por favor", listen: "Escuchar", stop: "Detener", film: "Reproducir o pausar la película" },
  fr: { wait: "Un instant, s’il vous plaît", listen: "Écouter", stop: "Arrêter", film: "Lire ou arrêter le film" },
  it: { wait: "Un momento, prego", listen: "Ascolta", stop: "Ferma", film: "Riproduci o ferma il film" },
  nl: { wait: "Een ogenblik, alstublieft", listen: "Luisteren", stop: "Stoppen", film: "Film afspelen of stoppen" },
  pl: { wait: "Proszę chwilę poczekać", listen: "Posłuchaj", stop: "Zatrzymaj", film: "Odtwórz lub zatrzymaj film" }
}

const wordsIn = (/** @type {string} */ code) => words[code.slice(0, 2)] ?? words.en

/** The columns with the begin and the end of an object's time, by the clock of this machine. */
const period = /** @type {const} */ ({ from: "from", until: "until" })

/**
 * @typedef {(typeof languages)[number]} Code
 * @typedef {Content["exhibits"]["Objects"][number]} Row
 * @typedef {Row["picture"] | PictureFile} File
 * @typedef {{ shown?: HTMLElement, thumbnail?: HTMLElement, film?: HTMLVideoElement, button?: HTMLButtonElement, sounds: Map<string, HTMLAudioElement> }} Media
 * @typedef {{ key: string, media?: Media, bringing?: Promise<void> | undefined }} Brought
 */

// 1. Loading. A version is shown when its first object is there. The others are brought behind it.

/** @param {Version} version @param {{ signal: AbortSignal }} options */
const load = async (version, { signal }) => {
  const [settings, rows] = await Promise.all([
    version.table("exhibits", "Settings"),
    version.table(source, "Objects"),
    ...languages.map(learn)
  ])
  const objects = rows.map((row) => ({ ...row, id: String(row.id) }))
  /** @type {Map<string, Brought>} */
  const brought = new Map()
  /** @type {string[]} */
  const leftOut = []
  const report = (/** @type {string} */ path) => {
    leftOut.push(path)
    version.problem(`The browser cannot show ${leftOut.join(", ")}; the page leaves it out.`)
  }
  const bringers = new Map(
    objects.map((row) => {
      const files = filesOf(version, row)
      const key = JSON.stringify(files)
      const before = content?.brought.get(row.id)
      brought.set(row.id, { key, ...(before?.key === key && before.media && { media: before.media }) })
      return [row.id, () => mediaOf(files, report, signal)]
    })
  )
  /** @param {string} id */
  const bring = async (id) => {
    const item = brought.get(id)
    if (!item || item.media) return
    item.bringing ??= (async () => {
      try {
        const media = await bringers.get(id)?.()
        if (media) item.media = media
      } finally {
        item.bringing = undefined
      }
      if (content?.brought === brought) update()
    })()
    await item.bringing
  }
  const bringOthers = async () => {
    while (!signal.aborted) {
      const missing = objects.filter(({ id }) => !brought.get(id)?.media)
      if (missing.length === 0) return
      for (const { id } of missing) await bring(id).catch(() => {}) // the server does not answer, or is slow
      await pause(1000)
    }
  }
  const valid = validAt(objects, period, Date.now())
  const first = valid.find(({ id }) => id === chosen) ?? valid[0]
  if (first) await bring(first.id)
  bringOthers()
  return { settings, objects, brought, bring }
}

/** Brought again later. */
const tooSlow = new Error("it takes longer than a minute")

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

const pathOf = (/** @type {File} */ file) => (typeof file === "object" ? file.localPath : (file ?? ""))

/** The addresses of an object's files. @param {Version} version @param {Row} row */
const filesOf = (version, row) => {
  const path = pathOf(row.picture)
  const name = path.replace(/\.\w+$/, "")
  const isFilm = /\.(mp4|m4v|mov|ogv|webm)$/i.test(path)
  const sounds = new Set(languages.map((code) => pathOf(language(row, code, ...languages).sound)))
  return {
    path,
    isFilm,
    picture: row.picture && version.picture(source, row.picture),
    subtitles: (isFilm ? languages : []).flatMap((code) => {
      const names = [`${name}.${code}.vtt`, `${name}_${code}.vtt`, ...(code === languages[0] ? [`${name}.vtt`] : [])]
      const found = names.find((name) => version.has(source, name))
      return found ? [{ code, src: version.url(source, found) }] : []
    }),
    sounds: [...sounds].filter((path) => path).map((path) => ({ path, src: version.url(source, path) }))
  }
}

/**
 * Pictures, films and sounds, ready to be shown. What the browser cannot show is left out and reported.
 * @param {ReturnType<typeof filesOf>} files @param {(path: string) => void} report @param {AbortSignal} signal
 * @returns {Promise<Media>}
 */
const mediaOf = async ({ isFilm, path, picture, sounds, subtitles }, report, signal) => {
  /** @template Made @param {string} path @param {string} src @param {Promise<Made>} making */
  const orLeftOut = (path, src, making) => {
    const slow = pause(60_000).then(() => Promise.reject(tooSlow))
    return Promise.race([making, slow]).catch(async (error) => {
      const isAnswered =
        src.startsWith("blob:") || (await fetch(src, { method: "HEAD" }).then(({ status }) => status < 500, () => false))
      if (signal.aborted || error === tooSlow || !isAnswered) throw error
      report(path)
      return undefined
    })
  }
  const visible = picture && orLeftOut(path, picture.src, isFilm ? filmOf(picture.src, subtitles) : pictureOf(picture))
  const audible = sounds.map(async ({ path, src }) => {
    const sound = await orLeftOut(path, src, soundOf(src))
    return sound ? [/** @type {const} */ ([path, sound])] : []
  })
  return { ...(await visible), sounds: new Map((await Promise.all(audible)).flat()) }
}

/** The width of the picture on the screen, by which the browser chooses a size. */
const wide = "(orientation: landscape) 50vw, 90vw"

/** @param {Picture} picture */
const pictureOf = async (picture) => {
  const shown = sizesOf(picture, wide)
  const image = shown.querySelector("img")
  await image?.decode()
  // Browsers draw half a file without an error. A drawing may have no size of its own.
  if (image && !/\.svg$/i.test(picture.src.replace(/[?#].*/, ""))) (await createImageBitmap(image)).close()
  return { shown, thumbnail: sizesOf(picture, "9rem") }
}

/** @param {Picture} picture @param {string} sizes */
const sizesOf = ({ sources, ...attributes }, sizes) =>
  make(
    "picture",
    {},
    ...sources.map((source) => make("source", { ...source, sizes })),
    make("img", { ...attributes, alt: "", draggable: false })
  )

/** @param {string} src @param {ReturnType<typeof filesOf>["subtitles"]} subtitles */
const filmOf = async (src, subtitles) => {
  const film = make("video", { preload: "auto", muted: true, src })
  await new Promise((resolve, reject) => Object.assign(film, { oncanplay: resolve, onerror: reject }))
  film.oncanplay = film.onerror = null
  const thumbnail = await frameOf(film)
  // The controls of the browser have a menu, and a button for the full screen, even if it is forbidden.
  const button = make("button", { type: "button", className: "play", onclick: () => (film.paused ? start(film) : film.pause()) })
  const mark = () => button.setAttribute("aria-pressed", `${!film.paused}`)
  Object.assign(film, {
    disablePictureInPicture: true,
    disableRemotePlayback: true,
    loop: true,
    muted: true,
    playsInline: true,
    oncontextmenu: () => false,
    ondurationchange: wait,
    onpause: mark,
    onplay: () => {
      mark()
      sound?.pause()
    },
    ontimeupdate: () => button.style.setProperty("--played", `${film.currentTime / film.duration || 0}`)
  })
  film.setAttribute("controlsList", "nodownload nofullscreen noplaybackrate noremoteplayback")
  const line = make("p", { className: "subtitle" })
  for (const { code, src } of subtitles) {
    const track = make("track", { kind: "metadata", srclang: code, src })
    const text = track.track
    text.oncuechange = () => {
      const cues = text.mode === "hidden" ? [...(text.activeCues ?? [])] : []
      line.replaceChildren(...cues.flatMap((cue) => (cue instanceof VTTCue ? cue.getCueAsHTML() : [])))
    }
    film.append(track)
  }
  mark()
  return { film, button, shown: make("div", { className: "film" }, film, line, button), thumbnail }
}

/** A picture of the film, from its second second. @param {HTMLVideoElement} film */
const frameOf = async (film) => {
  const seeked = new Promise((resolve) => film.addEventListener("seeked", resolve, { once: true }))
  const { duration, videoHeight, videoWidth } = film
  film.currentTime = Number.isFinite(duration) ? Math.min(1, duration / 2) : 0
  await Promise.race([seeked, pause(2000)])
  const frame = make("canvas", { width: 320, height: Math.round((320 * videoHeight) / (videoWidth || 1)) })
  frame.getContext("2d")?.drawImage(film, 0, 0, frame.width, frame.height)
  film.currentTime = 0
  return frame
}

/** @param {string} src @returns {Promise<HTMLAudioElement>} */
const soundOf = (src) =>
  new Promise((resolve, reject) => {
    const sound = new Audio()
    sound.onloadedmetadata = () => resolve(sound)
    sound.onerror = () => reject(new Error(`${src} cannot be played`))
    for (const event of ["play", "pause", "ended"]) {
      sound.addEventListener(event, () => {
        update()
        wait()
      })
    }
    sound.src = src
  })

// 2. Words. Long words get soft hyphens, because browsers have no dictionaries for many languages.

/** @type {Map<string, typeof import("vitrine/client/hyphen/en").hyphenate>} */
const hyphenators = new Map()

const learn = async (/** @type {Code} */ code) => {
  const { hyphenate } = (await hyphenOf(code.slice(0, 2)).catch(() => undefined)) ?? {}
  if (hyphenate) hyphenators.set(code, hyphenate)
}

/**
 * A text with soft hyphens, by the patterns of its own language. Words with digits, addresses and names of files stay as they are.
 * @param {unknown} value @param {Readonly<Record<string, unknown>> | undefined} row @param {string} name @param {number} minWordLength
 */
const divided = (value, row, name, minWordLength) => {
  const text = `${value ?? ""}`
  const code =
    row?.[name] === text
      ? languages.find((code) => !(`${name}_${code}` in row))
      : languages.find((code) => row?.[`${name}_${code}`] === text)
  const hyphenate = hyphenators.get(code ?? spoken)
  return text
    .split(/(\s+)/)
    .map((word) => (/[\d@/_]|\w\.\w/.test(word) ? word : (hyphenate?.(word, { minWordLength }) ?? word)))
    .join("")
}

// 3. Showing: one object, in one language.

/** @type {Awaited<ReturnType<typeof load>> | undefined} */
let content
/** @type {ReadonlyArray<Row>} */
let valid = []
/** @type {Code} */
let spoken = languages[0]
/** @type {string | undefined} */
let chosen
/** @type {HTMLAudioElement | undefined} */
let sound
/** @type {HTMLVideoElement | undefined} */
let film

/** A setting of the table, or of the address for this screen only: `?screen=left&rotate=90`. */
const setting = (/** @type {string} */ name) => {
  /** @type {Readonly<Record<string, unknown>>} */
  const settings = { ...(content?.settings ?? remembered), ...Object.fromEntries(new URLSearchParams(location.search)) }
  return settings[name]
}

/** The settings of the last time, so that a page that is loaded again has its colours and its rotation at once. */
const remembered = (() => {
  try {
    return JSON.parse(localStorage.getItem("settings") ?? "{}")
  } catch {
    return {}
  }
})()

const volume = () => Math.min(Math.max(Number(setting("volume")) || 0, 0), 100) / 100

/** The chosen language comes first; missing texts come from the other languages. @template Value @param {Value} value */
const inLanguage = (value) => language(value, ...new Set([spoken, ...languages]))

const nameOf = (/** @type {Code} */ code) => new Intl.DisplayNames(code, { type: "language" }).of(code) ?? code

const stateNow = () => {
  const objects = inLanguage(valid)
  const row = valid.find(({ id }) => id === chosen)
  const object = inLanguage(row)
  const media = content?.brought.get(`${chosen}`)?.media
  const seconds = Math.round(sound?.duration ?? 0)
  const length = seconds < 36_000 ? ` · ${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}` : ""
  return {
    isWaiting: !content,
    title: content
      ? `${inLanguage(content.settings).title ?? ""}`
      : [...new Set(languages.map((code) => wordsIn(code).wait))].join(" · "),
    spoken,
    languages: languages.length > 1 ? languages.map((code) => ({ code, name: nameOf(code) })) : [],
    objects: objects.map(({ id, title }, index) => {
      const media = content?.brought.get(id)?.media
      // An object without a picture has a letter in the list.
      return { id, title: divided(title, valid[index], "title", 10), thumbnail: media && (media.thumbnail ?? [...`${title}`][0]) }
    }),
    id: object?.id,
    year: `${object?.year ?? ""}`,
    heading: divided(object?.title, row, "title", 12),
    text: divided(object?.text, row, "text", 7),
    /** The picture or the film; its place stays free while it loads. */
    shown: media?.shown,
    hasPicture: media ? !!media.shown : !!object?.picture,
    sound: sound && `${wordsIn(spoken)[sound.paused ? "listen" : "stop"]}${length}`,
    isPlaying: !!sound && !sound.paused
  }
}

let state = stateNow()
/** @type {Set<() => void>} */
const listeners = new Set()

const update = () => {
  if (!valid.some(({ id }) => id === chosen)) begin(valid[0]?.id)
  const row = inLanguage(valid).find(({ id }) => id === chosen)
  const media = content?.brought.get(`${chosen}`)?.media
  const alt = `${row?.alt ?? ""}`
  media?.shown?.querySelector("img")?.setAttribute("alt", alt)
  media?.film?.setAttribute("aria-label", alt)
  media?.button?.setAttribute("aria-label", wordsIn(spoken).film)
  const nextSound = media?.sounds.get(pathOf(row?.sound))
  if (nextSound !== sound) {
    const before = sound
    sound = nextSound
    before?.pause()
  }
  for (const track of media?.film?.textTracks ?? []) track.mode = track.language === spoken ? "hidden" : "disabled"
  if (media?.film !== film) {
    film?.pause()
    film = media?.film
    if (film) film.currentTime = 0
    if (film && !isCalm.matches) start(film)
  }
  state = stateNow()
  const root = document.documentElement
  root.lang = spoken
  root.dataset.theme = setting("theme") === "light" ? "light" : "dark"
  root.dataset.rotate = `${setting("rotate") ?? 0}`
  if (content) document.title = state.title
  measure()
  for (const listener of listeners) listener()
}

/** @param {HTMLVideoElement} film */
const start = (film) => {
  film.volume = volume() || 1
  film.muted = volume() === 0
  // Browsers may refuse sound before the first touch.
  film.play().catch(() => {
    film.muted = true
    film.play().catch(() => {})
  })
}

/** The page is laid out by the space that it has after it was turned. */
const measure = () => {
  const isTurned = Number(setting("rotate")) % 180 !== 0
  const [width, height] = isTurned ? [innerHeight, innerWidth] : [innerWidth, innerHeight]
  const isPhone = (width < 560 || (height < 560 && width < 1000)) && !isTurned
  const shape = isPhone ? "phone" : height > width ? "portrait" : "landscape"
  document.documentElement.dataset.shape = shape
}

/** Begins with an object. @param {string | undefined} id */
const begin = (id) => {
  chosen = id
  began = performance.now()
  content?.bring(`${id}`).catch(() => {})
  wait()
}

// 4. The slide show: continues when the text was read and the film was seen, if there was no visitor for a minute.

export const isCalm = matchMedia("(prefers-reduced-motion: reduce)")
let began = 0
let visited = Number.NEGATIVE_INFINITY // the time of a visitor's last action
let turn = 0
/** @type {ReturnType<typeof setTimeout>} */
let timer

/** Seconds in which the text is read. */
const readingSeconds = () => `${inLanguage(valid).find(({ id }) => id === chosen)?.text ?? ""}`.length / 15

const wait = () => {
  const given = Number(setting("slideSeconds"))
  const slide = given > 0 ? Math.min(given, 86_400) : 16 // a timer ends at once if its time is no number, or weeks
  const length = film?.duration ?? 0
  const seconds = Math.max(slide, readingSeconds() + 3, Number.isFinite(length) ? length : 0) // a stream has no end
  const now = performance.now()
  clearTimeout(timer)
  timer = setTimeout(next, Math.max(began + seconds * 1000, visited + 60_000, now + 1000) - now)
}

const next = () => {
  if (sound && !sound.paused) return // goes on at its end
  const wanted = languages.find((code) => code === setting("slideLanguages"))
  const inTurn = setting("slideLanguages") === "all" ? languages : [wanted ?? languages[0]]
  const wasVisited = visited > began
  turn = wasVisited ? 0 : (turn + 1) % inTurn.length
  spoken = inTurn[turn] ?? languages[0]
  const index = valid.findIndex(({ id }) => id === chosen)
  const others = [...valid.slice(index + 1), ...valid.slice(0, index)]
  const isNext = turn === 0 && !isCalm.matches
  begin((isNext && others.find(({ id }) => content?.brought.get(id)?.media)?.id) || chosen)
  update()
}

for (const event of ["click", "keydown", "pointerdown", "touchmove", "wheel"]) {
  addEventListener(
    event,
    () => {
      visited = performance.now()
      wait()
    },
    { passive: true }
  )
}

// 5. Scrolling: a new object begins at the top of its text, and its button is in sight. The slide show moves long texts.

let arranged = ""

/** To be called when the page is drawn. */
export const arrange = () => {
  const { shape } = document.documentElement.dataset
  const now = `${began} ${spoken} ${shape}`
  if (arranged !== now && state.id) {
    const behavior = arranged && !isCalm.matches ? "smooth" : "auto"
    arranged = now
    find("article").scrollTop = document.documentElement.scrollTop = 0
    const nav = find("nav")
    const button = nav.querySelector('[aria-current="true"]')
    if (button instanceof HTMLElement) {
      const { offsetHeight, offsetLeft, offsetTop, offsetWidth } = button
      // Its button is not moved under the hand, unless it is at an edge, where the list fades.
      const [left, top] = [offsetLeft - offsetWidth * 0.45, offsetTop - offsetHeight * 0.25]
      const isAtEdge =
        nav.scrollWidth > nav.clientWidth
          ? nav.scrollLeft > left || nav.scrollLeft + nav.clientWidth < left + offsetWidth * 1.9
          : nav.scrollTop > top || nav.scrollTop + nav.clientHeight < top + offsetHeight * 1.5
      if (isAtEdge) nav.scrollTo({ behavior, left, top })
    }
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(read)
  }
  fade()
}

/** Marks where a part continues beyond its edge. */
const fade = () => {
  for (const part of document.querySelectorAll("article, nav")) {
    const { clientHeight, clientWidth, scrollHeight, scrollLeft, scrollTop, scrollWidth } = part
    part.classList.toggle("before", scrollTop + scrollLeft > 1)
    part.classList.toggle("after", scrollHeight - clientHeight - scrollTop > 1 || scrollWidth - clientWidth - scrollLeft > 1)
  }
}

let frame = 0

/** Moves the text so that its reader finds the line in the middle of the screen. */
const read = () => {
  if (visited > began || isCalm.matches) return
  const share = (performance.now() - began) / 1000 / readingSeconds()
  const article = find("article")
  if (document.documentElement.dataset.shape === "phone") {
    const { bottom, height, top } = article.getBoundingClientRect()
    const line = Math.min(top + height * share - innerHeight / 2, bottom - innerHeight)
    if (line > 0) scrollBy(0, line)
  } else {
    article.scrollTop = Math.max(article.scrollTop, article.scrollHeight * share - article.clientHeight / 2)
  }
  if (share < 1) frame = requestAnimationFrame(read)
}

addEventListener("scroll", fade, { capture: true, passive: true })
addEventListener("resize", () => {
  measure()
  arrange()
})

// 6. What the views use.

export const page = {
  getState: () => state,
  /** @param {() => void} listener */
  subscribe: (listener) => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  },
  /** @param {string} id */
  choose: (id) => {
    begin(id)
    update()
  },
  /** @param {Code} code */
  speak: (code) => {
    spoken = code
    update()
  },
  /** Plays the sound of the object, or stops it. */
  listen: () => {
    if (!sound) return
    film?.pause()
    sound.currentTime = 0
    sound.volume = volume() || 1
    if (sound.paused) sound.play().catch(() => {})
    else sound.pause()
  }
}

/** @param {string} selector @returns {HTMLElement} */
export const find = (selector) => document.querySelector(selector) ?? document.body

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<HTMLElementTagNameMap[Name]>} attributes
 * @param {ReadonlyArray<Node | string>} children
 */
export const make = (name, attributes, ...children) => {
  const element = Object.assign(document.createElement(name), attributes)
  element.append(...children)
  return element
}

/** Replaces the children of an element, unless they are the same. @param {Element} parent @param {ReadonlyArray<Node | string>} children */
export const put = (parent, ...children) => {
  const { childNodes } = parent
  const isSame = (/** @type {Node | string} */ child, /** @type {number} */ index) =>
    childNodes[index] === child || childNodes[index]?.nodeValue === child
  if (childNodes.length !== children.length || !children.every(isSame)) parent.replaceChildren(...children)
}

// 7. The connection. Problems are for the status of the controller and the console, not for visitors.

let end = () => {}

connect({
  load,
  show: (loaded) => {
    content = loaded
    try {
      localStorage.setItem("settings", JSON.stringify(loaded.settings))
    } catch {} // the browser may forbid it
    end()
    end = current(loaded.objects, period, (rows) => {
      valid = rows
      update()
    })
  }
})

update()
