/**
 * Runs the browser of a kiosk with the page beside this file, and ends it when that page has been silent for a minute and a half: its
 * process has crashed, or hangs, or another tab is in front, and whoever has started the browser sees only that this runs. What has started this, starts it again.
 *
 *     node watch.mjs http://127.0.0.1:8730/?screen=left-wall /usr/bin/chromium --kiosk
 *
 * The address of the page becomes the last argument of the browser. With the token PICTURES_TOKEN in the environment, the controller
 * gets pictures of the screen.
 */
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import { sendPictures } from "./pictures.mjs"

const [url = "", program, ...args] = process.argv.slice(2)
if (program === undefined || !/^https?:\/\//.test(url)) {
  console.error("usage: node watch.mjs URL BROWSER [ARGUMENT ...]")
  process.exit(64)
}

const token = process.env.PICTURES_TOKEN
// The browser does not get it.
delete process.env.PICTURES_TOKEN
const screen = token && new URL(url).searchParams.get("screen")
if (token && !screen) {
  console.error("No pictures are taken: the address of the page has no ?screen=")
}

/** How often it is looked, and how long the browser has to end. */
const lookMs = 5000
/** Looks are counted, and no time, because the machine may sleep. A page that the browser slows down says it once a minute. */
const silentLooks = 18
/** A browser that begins has as many more. */
let looks = -silentLooks

const server = createServer((_, response) => {
  looks = 0
  response.writeHead(204, { "Access-Control-Allow-Origin": "*" }).end()
})

server.listen(0, "127.0.0.1", () => {
  const page = new URL(`index.html?watch=${server.address().port}&url=${url}`, import.meta.url)
  const browser = screen
    ? spawn(program, [...args, "--remote-debugging-pipe", page.href], { stdio: [0, 1, 2, "pipe", "pipe"] })
    : spawn(program, [...args, page.href], { stdio: "inherit" })
  let status = 1

  const end = () => {
    browser.kill()
    setTimeout(() => browser.kill("SIGKILL"), lookMs)
  }

  browser.on("error", ({ message }) => {
    console.error(`The browser cannot be started: ${message}`)
    process.exit(status)
  })
  browser.on("exit", (code) => process.exit(code ?? status))
  if (screen) {
    sendPictures({ origin: new URL(url).origin, pipes: browser.stdio.slice(3), screen, token })
  }
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      status = 0
      end()
    })
  }

  setInterval(() => {
    looks += 1
    if (looks === silentLooks) {
      console.error("The page of the kiosk is silent: the browser is ended")
      end()
    }
  }, lookMs)
})
