/**
 * The pages of `vitrine init` with forty objects, two languages and a film, in a real browser and on four sizes of screens.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import react from "@vitejs/plugin-react"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Page } from "playwright-core"
import sharp from "sharp"
import { build, type PluginOption } from "vite"
import { vitrine } from "../../src/vite.ts"
import { Browser, openTab } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { makeReader } from "../support/reader.ts"
import { evaluate, waitFor } from "../support/stage.ts"
import { linkPackages, viteConfig } from "../support/vite.ts"
import { eventually } from "../support/waiting.ts"

const count = 40

const sentence = (words: string, length: number) =>
  words
    .repeat(20)
    .slice(0, length - 4)
    .trimEnd()
    .concat(" End")

const titleOf = (number: number) =>
  number % 7 === 0
    ? `The Donaudampfschifffahrtsgesellschaftskapitän, ${number}`
    : number % 5 === 0
      ? `A Rather Long Name for a Small Bottle of Spring Tide, ${number}`
      : `Bell ${number}`

/** Object 1 has the longest text, 2 a photograph, 3 is a film, 4 has no picture, and every third has no German title. */
const rowOf = (number: number) => [
  `VM-${number}`,
  titleOf(number),
  number % 3 === 0 ? "" : `Glocke ${number}`,
  `${1800 + number}`,
  number === 4
    ? ""
    : `pictures/${number === 2 ? "photograph.jpg" : number === 3 ? "film.webm" : `${number}.svg`}`,
  `Picture ${number}`,
  `Bild ${number}`,
  sentence("It was rung by hand every ninety seconds. ", number === 1 ? 1000 : 160),
  sentence("Sie wurde alle neunzig Sekunden geläutet. ", number === 1 ? 1000 : 160)
]

const drawing = (number: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="${100 + 10 * number}"><rect width="100%" height="100%" fill="hsl(${number * 29} 45% 45%)"/></svg>`

/** A second of moving colours in portrait, as the browser records it; in Base64. */
const record = `(async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 180, height: 320 })
  const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" })
  const chunks = []
  recorder.ondataavailable = ({ data }) => chunks.push(data)
  const ended = new Promise((resolve) => { recorder.onstop = resolve })
  recorder.start()
  for (let frame = 0; frame < 25; frame++) {
    const context = canvas.getContext("2d")
    context.fillStyle = "hsl(" + frame * 10 + " 60% 40%)"
    context.fillRect(0, 0, 180, 320)
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  recorder.stop()
  await ended
  return btoa(String.fromCharCode(...new Uint8Array(await new Blob(chunks).arrayBuffer())))
})()`

const photograph = sharp({ create: { width: 3000, height: 2000, channels: 3, background: "#a33" } }).jpeg()

const writeContent = (folder: string, film: string, photograph: Buffer) => {
  const content = join(folder, "content")
  mkdirSync(join(content, "pictures"), { recursive: true })
  writeFileSync(join(content, "pictures/film.webm"), Buffer.from(film, "base64"))
  writeFileSync(join(content, "pictures/photograph.jpg"), photograph)
  const rows = Array.from({ length: count }, (_, index) => {
    writeFileSync(join(content, `pictures/${index + 1}.svg`), drawing(index + 1))
    return rowOf(index + 1).map((cell) => `"${cell}"`)
  })
  const names = "id,title,title_de,year,picture,alt,alt_de,text,text_de"
  writeFileSync(join(content, "Objects.csv"), `${names}\n${rows.map((row) => row.join()).join("\n")}\n`)
}

/** The patterns of English and of German divide it differently. */
const english = "Extraordinary lighthouses"

const longText = "Seenotrettungsgesellschaft ".repeat(70).concat("https://example.org/seenotrettung")

/** Two seconds of silence. */
const silence = (() => {
  const wave = Buffer.alloc(44 + 16_000, 128)
  wave.write("RIFF")
  wave.writeUInt32LE(36 + 16_000, 4)
  wave.write("WAVEfmt ", 8)
  for (const [at, value] of [
    [16, 16],
    [20, 0x1_0001],
    [24, 8000],
    [28, 8000],
    [32, 0x8_0001]
  ] as const)
    wave.writeUInt32LE(value, at)
  wave.write("data", 36)
  wave.writeUInt32LE(16_000, 40)
  return wave
})()

const writeOpeningDay = (content: string, film: string, picture: Buffer) => {
  const write = (name: string, data: string | Uint8Array) => writeFileSync(join(content, name), data)
  write("pictures/film.webm", Buffer.from(film, "base64"))
  write("pictures/film.de.vtt", "WEBVTT\n\n00:00.000 --> 01:00.000\nEine Glocke\n")
  write("pictures/film.en.vtt", "WEBVTT\n\n00:00.000 --> 01:00.000\nA bell\n")
  // Whole by its length, without a frame.
  write("pictures/broken.webp", Buffer.concat([picture.subarray(0, 20), Buffer.alloc(picture.length - 20)]))
  for (const name of ["fast", "slow", "slower"]) write(`pictures/${name}.svg`, drawing(name.length))
  mkdirSync(join(content, "sounds"))
  write("sounds/bell.wav", silence)
  const rows = [
    ["long", "Donaudampfschifffahrtsgesellschaft", "pictures/fast.svg", `${longText} END`, "Kurz.", "", ""],
    ["film", "Film", "pictures/film.webm", "", "", "", ""],
    ["broken", "Broken", "pictures/broken.webp", "", "", "", ""],
    ["sounding", "Bell", "pictures/slow.svg", "", "", "sounds/bell.wav", ""],
    ["still", "Lamp", "pictures/slower.svg", english, "", "", ""],
    ["later", "Later", "pictures/fast.svg", "", "", "", "2026-11-21T10:00"]
  ]
  write(
    "Objects.csv",
    `id,title,picture,text,text_de,sound,from\n${rows.map((row) => row.join()).join("\n")}\n`
  )
  write("Settings.csv", "key,value\ntitle,Kept at the harbour\nslideLanguages,all\nvolume,30\n")
}

const sizes = [
  [1280, 800],
  [1920, 1080],
  [1920, 540],
  [1080, 1920],
  [390, 844]
] as const

/** What somebody in front of the screen could not see, read or touch. */
const faults = `(() => {
  const faults = []
  const all = (selector) => [...document.querySelectorAll(selector)]
  const isAt = (element, x, y) => element.contains(document.elementFromPoint(x, y))
  const isTouched = (element) => {
    element.scrollIntoView({ block: "nearest" })
    const { bottom, left, right, top } = element.getBoundingClientRect()
    return isAt(element, left + 8, top + 8) && isAt(element, right - 8, bottom - 8)
  }
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const backgroundOf = (element) => {
    const [red, green, blue, alpha = 1] = channels(getComputedStyle(element).backgroundColor)
    return alpha === 0 ? (element.parentElement ? backgroundOf(element.parentElement) : [255, 255, 255]) : [red, green, blue]
  }
  const luminance = (color) => {
    const [red, green, blue] = color.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrastOf = (element) => {
    const [dark, light] = [channels(getComputedStyle(element).color), backgroundOf(element)].map(luminance).sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }
  const { dataset: { shape }, scrollHeight, scrollWidth } = document.documentElement
  if (innerWidth > 1000 && shape === "phone") faults.push("the page is laid out for a phone")
  if (scrollWidth > innerWidth || (shape !== "phone" && scrollHeight > innerHeight)) faults.push("the page is larger than the screen")
  for (const element of all(".name")) {
    if (element.getBoundingClientRect().height > 2.6 * parseFloat(getComputedStyle(element).fontSize)) faults.push(element.textContent + " has more than two lines")
  }
  for (const element of all("h1, h2, #year, #text, button:not(:empty), .thumbnail:not(:empty)")) {
    const name = element.id || element.textContent
    if (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 4) faults.push(name + " is cut")
    if (contrastOf(element) < 4.5) faults.push(name + " has a contrast of " + contrastOf(element))
    if (parseFloat(getComputedStyle(element).fontSize) < 16) faults.push(name + " is small")
  }
  for (const button of all("button:not(:empty)")) {
    if (!isTouched(button)) faults.push(button.textContent + " is out of reach")
    const { height, width } = button.getBoundingClientRect()
    if (height < 48 || width < 48) faults.push(button.textContent + " is small")
  }
  const [article, figure] = all("article, figure").map((element) => element.getBoundingClientRect()).sort((a, b) => b.left + b.top - a.left - a.top)
  if (figure.width < Math.min(innerWidth, innerHeight) * 0.38 || figure.height < 150) faults.push("the picture is small")
  for (const element of all("figure :is(img, video)")) {
    const { bottom, left, right, top } = element.getBoundingClientRect()
    if (bottom > figure.bottom || left < figure.left || right > figure.right || top < figure.top) faults.push("the picture is cut")
  }
  if (article.width < Math.min(innerWidth, innerHeight) * 0.38) faults.push("the text is narrow")
  if (innerHeight > innerWidth && (figure.bottom > article.top || figure.width < innerWidth * 0.85)) faults.push("the picture is not over the text")
  const end = document.createRange()
  const [{ firstChild: text }] = all("#text")
  end.setStart(text, text.length - 3)
  end.setEnd(text, text.length)
  document.querySelector("article").scrollTop = 1e6
  if (shape === "phone") document.querySelector("#text").scrollIntoView({ block: "end" })
  const { bottom, left } = end.getBoundingClientRect()
  if (!isAt(document.querySelector("#text"), left + 2, bottom - 2)) faults.push("the end of the text is out of reach")
  return faults
})()`

/** Whether the list shows enough objects whole, when it has moved. */
const showsEnough = `(() => {
  const nav = document.querySelector("nav").getBoundingClientRect()
  const whole = [...document.querySelectorAll("nav button")].filter((button) => {
    const { bottom, left, right, top } = button.getBoundingClientRect()
    return top >= nav.top && bottom <= nav.bottom && left >= nav.left && right <= nav.right
  })
  return whole.length >= (innerWidth < 1500 && innerWidth > innerHeight ? 8 : 10)
})()`

/** Whether the button of the object is in the part of the list that is seen. */
const followed = `(() => {
  const { bottom, left, right, top } = document.querySelector("nav").getBoundingClientRect()
  const button = document.querySelector('nav [aria-current="true"]').getBoundingClientRect()
  return button.top >= top - 1 && button.bottom <= bottom + 1 && button.left >= left - 1 && button.right <= right + 1
})()`

const shows = (tab: Page, title: string) =>
  waitFor(
    tab,
    `document.querySelector("h2")?.textContent.replaceAll("\\xad", "") === ${JSON.stringify(title)}`
  )
const pass = (tab: Page, seconds: number) => Effect.promise(() => tab.clock.fastForward(seconds * 1000))
const click = (tab: Page, value: string) =>
  evaluate(tab, `document.querySelector('button[value="${value}"]').click()`)

const kinds: ReadonlyArray<readonly [option: string, plugins: ReadonlyArray<PluginOption> | undefined]> = [
  ["--page", undefined],
  ["--vite", []],
  ["--react", [react()]]
]

/** A project of `init` that runs, with the content, and a tab with a clock that can be moved. */
const makeProject = Effect.fnUntraced(function* (
  option: string,
  plugins: ReadonlyArray<PluginOption> | undefined,
  write: (folder: string, film: string) => void,
  sourceOptions = ""
) {
  const fs = yield* FileSystem.FileSystem
  const reader = yield* makeReader
  expect(yield* reader.run(`npx vitrine init ${option}`)).toMatchObject({ status: 0 })
  yield* reader.useFreePorts("vitrine.config.ts")
  const tab = yield* openTab("about:blank")
  write(reader.folder, yield* Effect.promise((): Promise<string> => tab.evaluate(record)))
  const file = `${reader.folder}/vitrine.config.ts`
  const configuration = yield* fs.readFileString(file)
  yield* fs.writeFileString(
    file,
    configuration.replace('directory: "content"', `directory: "content"${sourceOptions}`)
  )
  if (plugins) {
    yield* linkPackages(reader.folder)
    yield* Effect.promise(() => build({ ...viteConfig(reader.folder), plugins: [...plugins, vitrine()] }))
  }
  yield* reader.keepRunning("npx vitrine start", /New version/)
  const port = /contentServer\(\{ port: (\d+),/.exec(configuration)?.[1]
  const open = Effect.fnUntraced(function* (query = "", time?: Date) {
    yield* Effect.promise(() => tab.clock.install(time && { time }))
    yield* Effect.promise(() => tab.goto(`http://127.0.0.1:${port}/${query}`))
  })
  return { open, reader, tab }
})

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe-core finds on the page. */
const barriers = (tab: Page) =>
  Effect.promise(async () => {
    await tab.evaluate(axe)
    return tab.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html)))"
    )
  })

const environment = Layer.merge(Browser.layer, NodeContext.layer)

describe.skipIf(isMissing("chromium"))("the page of vitrine init", () => {
  layer(environment, { excludeTestServices: true, timeout: 200_000 })((it) => {
    it.scoped.each(kinds)(
      "%s shows forty objects whole on each screen, and its slide show waits for visitors",
      ([option, plugins]) =>
        Effect.gen(function* () {
          const photo = yield* Effect.promise(() => photograph.toBuffer())
          const { open, reader, tab } = yield* makeProject(
            option,
            plugins,
            (folder, film) => writeContent(folder, film, photo),
            ', pictures: ["picture"]'
          )
          yield* open()

          // The slide show: with time for a long text, and with the list behind it.
          yield* shows(tab, titleOf(1))
          yield* waitFor(tab, `document.querySelectorAll("nav button").length === ${count}`)
          yield* pass(tab, 40)
          yield* shows(tab, titleOf(1))
          yield* pass(tab, 30)
          const last = 14
          for (let number = 2; number < last; number++) {
            yield* shows(tab, titleOf(number))
            yield* waitFor(tab, followed)
            if (number === 2) {
              expect(yield* evaluate(tab, 'document.querySelector("figure img").currentSrc')).toMatch(
                /-1920\.webp/
              )
            }
            yield* pass(tab, 17)
          }
          yield* shows(tab, titleOf(last))
          yield* evaluate(tab, 'addEventListener("wheel", () => { document.body.dataset.wheel = "moved" })')
          yield* Effect.promise(async () => {
            await tab.hover("article")
            await tab.mouse.wheel(0, 100)
          })
          // The browser answers before the page has the event.
          yield* waitFor(tab, 'document.body.dataset.wheel === "moved"')
          yield* pass(tab, 50)
          yield* shows(tab, titleOf(last))
          yield* pass(tab, 15)
          yield* shows(tab, titleOf(last + 1))

          // Another language, until its visitor has gone.
          yield* click(tab, "de")
          yield* click(tab, "VM-1")
          yield* shows(tab, "Glocke 1")
          expect(yield* evaluate(tab, "[document.title, document.documentElement.lang]")).toEqual([
            "Im Hafen verwahrt",
            "de"
          ])
          expect(yield* evaluate(tab, 'document.querySelector("figure img").alt')).toBe("Bild 1")
          // The three pages share their style: all screens are tried with the plain page.
          for (const [width, height] of option === "--page" ? sizes : sizes.slice(3)) {
            yield* Effect.promise(() => tab.setViewportSize({ width, height }))
            for (const [language, object] of [
              ["de", 1],
              ["en", 1],
              ["en", 3],
              ["en", 7]
            ] as const) {
              yield* click(tab, language)
              yield* click(tab, `VM-${object}`)
              yield* shows(tab, language === "de" ? `Glocke ${object}` : titleOf(object))
              yield* waitFor(tab, followed)
              yield* waitFor(tab, showsEnough)
              expect({ width, language, object, faults: yield* evaluate(tab, faults) }).toMatchObject({
                faults: []
              })
              expect(yield* barriers(tab)).toEqual([])
            }
          }
          yield* click(tab, "VM-3")
          yield* waitFor(tab, 'document.querySelector("figure video")?.currentTime > 0')
          yield* click(tab, "de")
          yield* click(tab, "VM-2")
          yield* pass(tab, 70)
          yield* shows(tab, titleOf(3))

          // What visitors need not know.
          yield* reader.interrupt
          yield* pass(tab, 60)
          yield* shows(tab, titleOf(4))
          expect(yield* Effect.promise(() => tab.innerText("body"))).not.toMatch(/version|offline|reach/i)
        })
    )

    it.scoped.each(kinds.filter(([option]) => option !== "--vite"))(
      "%s speaks the language of each visitor, plays films and sounds, and hides what is not valid now",
      ([option, plugins]) =>
        Effect.gen(function* () {
          const picture = yield* Effect.promise(() =>
            sharp({
              create: {
                width: 300,
                height: 300,
                channels: 3,
                background: "#a33",
                noise: { type: "gaussian", mean: 128, sigma: 60 }
              }
            })
              .webp()
              .toBuffer()
          )
          const { open, reader, tab } = yield* makeProject(option, plugins, (folder, film) =>
            writeOpeningDay(join(folder, "content"), film, picture)
          )
          const has = (selector: string, text: string) =>
            waitFor(
              tab,
              `document.querySelector("${selector}")?.textContent.replaceAll("\\xad", "") === ${JSON.stringify(text)}`
            )

          // Before there is content, in the languages of the page.
          yield* Effect.promise(() => tab.route("**/manifest.json", (route) => route.abort()))
          yield* open("?screen=left", new Date(2026, 10, 21, 8, 59))
          yield* has("h1", "One moment, please · Einen Augenblick, bitte")

          // The first object does not wait for the others.
          let give = () => {}
          const given = new Promise<void>((resolve) => {
            give = resolve
          })
          yield* Effect.promise(() => tab.route(/slow/, (route) => given.then(() => route.continue())))
          yield* Effect.promise(() => tab.unroute("**/manifest.json"))
          yield* pass(tab, 6)
          yield* has("h2", "Donaudampfschifffahrtsgesellschaft")
          expect(yield* evaluate(tab, 'document.querySelector("h2").textContent')).toContain("\u00ad")
          expect(
            yield* evaluate(
              tab,
              'document.querySelectorAll("nav button:not([aria-current=true]) img").length'
            )
          ).toBe(0)
          give()
          yield* waitFor(tab, 'document.querySelectorAll("nav :is(img, canvas)").length === 4')
          expect(yield* evaluate(tab, 'document.querySelector("#text").textContent')).toMatch(
            /^\S*\u00ad.*https:\/\/example\.org\/seenotrettung END$/
          )

          // The slide show moves a long text, until its end can be read.
          yield* has("#text", `${longText} END`)
          yield* pass(tab, 50)
          yield* waitFor(tab, 'document.querySelector("article").scrollTop > 100')
          yield* pass(tab, 55)
          yield* waitFor(
            tab,
            '(({ clientHeight, scrollHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop < 2)(document.querySelector("article"))'
          )
          yield* has("h2", "Donaudampfschifffahrtsgesellschaft")

          // Each object in each language, then the next object.
          yield* pass(tab, 25)
          yield* waitFor(
            tab,
            'document.documentElement.lang === "de" && document.querySelector("#text").textContent === "Kurz."'
          )
          yield* pass(tab, 17)
          yield* waitFor(tab, 'document.documentElement.lang === "en"')
          yield* has("h2", "Film")

          // A film without buttons of the browser, with subtitles, and as loud as the settings say.
          yield* has(".subtitle", "A bell")
          yield* click(tab, "de")
          yield* has(".subtitle", "Eine Glocke")
          expect(
            yield* evaluate(
              tab,
              '(({ controls, controlsList, disablePictureInPicture, muted, volume }) => [controls, controlsList.value, disablePictureInPicture, muted, volume])(document.querySelector("figure video"))'
            )
          ).toEqual([false, "nodownload nofullscreen noplaybackrate noremoteplayback", true, false, 0.3])
          yield* click(tab, "sounding")
          yield* has("#sound", "Anhören · 0:02")
          yield* evaluate(tab, 'document.querySelector("#sound").click()')
          yield* waitFor(tab, 'document.querySelector("#sound").getAttribute("aria-pressed") === "true"')
          yield* has("#sound", "Anhalten · 0:02")
          yield* click(tab, "film")
          yield* has("#sound", "")

          // A text that is not translated is divided as in its own language.
          const text = evaluate(tab, 'document.querySelector("#text").textContent')
          yield* click(tab, "still")
          yield* has("#text", english)
          const divided = yield* text
          yield* click(tab, "en")
          yield* waitFor(tab, 'document.documentElement.lang === "en"')
          expect(divided).toBe(yield* text)
          expect(divided).toContain("\u00ad")
          yield* click(tab, "de")

          // What the browser cannot draw is left out, and the controller says so.
          yield* click(tab, "broken")
          yield* waitFor(tab, 'getComputedStyle(document.querySelector("figure")).display === "none"')
          yield* has("nav [value=broken] .thumbnail", "B")
          const status = Effect.map(reader.run("npx vitrine status"), ({ output }) => output)
          yield* eventually(
            Effect.map(status, (text) => text.includes("The browser cannot show pictures/broken.webp"))
          )

          // By the clock of this machine.
          expect(yield* evaluate(tab, 'document.querySelectorAll("nav button").length')).toBe(5)
          yield* Effect.promise(() => tab.clock.setSystemTime(new Date(2026, 10, 21, 10, 0, 1)))
          yield* pass(tab, 61)
          yield* waitFor(tab, '!!document.querySelector("button[value=later]")')

          // A screen that hangs upright, and shows the page as a portrait.
          yield* open("?rotate=90&theme=light", new Date(2026, 10, 21, 8, 59))
          yield* has("h1", "Kept at the harbour")
          const turned =
            "(({ height, left, top, width }) => [left, top, width, height].map(Math.round))(document.body.getBoundingClientRect())"
          expect(yield* evaluate(tab, turned)).toEqual([0, 0, 1920, 1080])
          expect(yield* evaluate(tab, "document.body.offsetHeight")).toBe(1920)
          expect(yield* evaluate(tab, "document.documentElement.dataset")).toMatchObject({
            shape: "portrait",
            theme: "light"
          })
          expect(yield* barriers(tab)).toEqual([])

          // A page that is loaded again has its colours before its content is there.
          writeFileSync(join(reader.folder, "content/Settings.csv"), "key,value\ntheme,light\n")
          yield* open()
          yield* waitFor(tab, 'document.documentElement.dataset.theme === "light"')
          yield* Effect.promise(() => tab.route("**/manifest.json", (route) => route.abort()))
          yield* open()
          yield* has("h1", "One moment, please · Einen Augenblick, bitte")
          expect(yield* evaluate(tab, "document.documentElement.dataset.theme")).toBe("light")
        })
    )
  })
})
