/**
 * Sends a picture of a screen to the controller whenever somebody wants to see the screen, or says in words why there is no picture.
 * A browser that is started with `--remote-debugging-pipe` gives the pictures. docs/wire.md has the requests.
 */

import http from "node:http"
import https from "node:https"

/** How long a picture may take: first the page in front is found, then it is drawn. */
const frontMs = 1000
const pictureMs = 4000
/** The controller answers a request for what is wanted after 50 seconds. */
const answerMs = 90_000
const pauseMs = 2000
const refusedPauseMs = 300_000
/** The limits of the controller. */
const maxBytes = 1_048_576
const maxWidth = 1280
/** A lower quality is for pictures that are too large. */
const qualities = [80, 40, 10]

const refusals = {
  400: "The controller refuses ?screen=: the id of a screen is a plain file name",
  401: "The controller refuses PICTURES_TOKEN: nobody can see this screen",
  403: "The controller refuses the host of its address: add it to allowedHosts",
  404: "The controller takes no pictures: give contentServer({ pictures: { token } }) the PICTURES_TOKEN of this screen"
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Sends pictures of `screen` to the controller at `origin`, until the process ends. `pipes` are the two of the browser. */
export const sendPictures = async ({ origin, pipes, screen, token }) => {
  const browser = openPipe(...pipes)
  const { request } = origin.startsWith("https:") ? https : http

  /** Gives the status, and the number of the picture that is wanted. */
  const send = (path, { body, headers, method } = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        // The fetch of Node 20 can end the process some seconds after a request on a connection that is kept.
        agent: false,
        headers: { ...headers, Authorization: `Bearer ${token}` },
        method,
        signal: AbortSignal.timeout(answerMs)
      }
      request(`${origin}/vitrine/pictures/${path}`, options, (response) => {
        const { headers, statusCode } = response
        response.on("error", reject).on("end", () => {
          resolve({ number: headers["vitrine-picture"], status: statusCode })
        })
        response.resume()
      })
        .on("error", reject)
        .end(body)
    })

  /** Waits until a picture is wanted, and sends it; gives the status of the controller. */
  const answer = async () => {
    const { number, status } = await send(`wanted?screen=${encodeURIComponent(screen)}`)
    if (status === 200) {
      const picture = await takePicture(browser)
      const isText = typeof picture === "string"
      const headers = {
        "Content-Type": isText ? "text/plain; charset=utf-8" : "image/jpeg",
        "Vitrine-Picture": number
      }
      await send(encodeURIComponent(screen), { body: picture, headers, method: "PUT" })
    }
    return status
  }

  let said
  for (;;) {
    // A controller that cannot be reached is asked again, as one that has no wish.
    const refusal = refusals[await answer().catch(() => undefined)]
    if (refusal !== undefined && refusal !== said) {
      console.error(refusal)
      said = refusal
    }
    await pause(refusal === undefined ? pauseMs : refusedPauseMs)
  }
}

/** Talks with a browser through its debugging pipe: messages of JSON, each with a NUL behind it. */
const openPipe = (input, output) => {
  const answers = new Map()
  let received = ""
  let sent = 0
  const browser = {
    /** Why no pages are known, until they are. */
    obstacle: "the browser does not answer yet through its debugging pipe",
    /** The pages, and the frames that have a process of their own, by session. */
    targets: new Map(),
    /** Gives the result, or `undefined` after an error. */
    send: (method, params = {}, sessionId = undefined) =>
      new Promise((resolve) => {
        sent += 1
        answers.set(sent, resolve)
        input.write(`${JSON.stringify({ id: sent, method, params, sessionId })}\0`)
      })
  }
  output.setEncoding("utf8").on("data", (text) => {
    const messages = `${received}${text}`.split("\0")
    received = messages.pop()
    for (const message of messages) {
      const { id, method, params, result, sessionId } = JSON.parse(message)
      answers.get(id)?.(result)
      answers.delete(id)
      events[method]?.(browser, browser.targets.get(sessionId) ?? {}, params)
    }
  })
  const close = () => {
    browser.obstacle = "the browser has closed its debugging pipe"
  }
  input.on("error", close)
  output.on("error", close).on("close", close)
  attach(browser, "page").then((result) => {
    browser.obstacle = result === undefined ? browser.obstacle : undefined
  })
  return browser
}

const attach = ({ send }, type, sessionId = undefined) => {
  const always = { autoAttach: true, flatten: true, waitForDebuggerOnStart: false }
  return send("Target.setAutoAttach", { ...always, filter: [{ type }] }, sessionId)
}

/** Handlers of the browser's events. `target` is the page or frame. */
const events = {
  "Target.attachedToTarget": (browser, parent, { sessionId }) => {
    browser.targets.set(sessionId, { page: parent.page ?? sessionId, sessionId })
    browser.send("Page.enable", {}, sessionId)
    browser.send("Inspector.enable", {}, sessionId)
    attach(browser, "iframe", sessionId)
  },
  "Target.detachedFromTarget": ({ targets }, _, { sessionId }) => targets.delete(sessionId),
  "Inspector.targetCrashed": (_, target) => Object.assign(target, { hasCrashed: true }),
  "Inspector.targetReloadedAfterCrash": (_, target) => Object.assign(target, { hasCrashed: false }),
  "Page.javascriptDialogOpening": (_, target, { message }) => Object.assign(target, { dialog: message }),
  "Page.javascriptDialogClosed": (_, target) => Object.assign(target, { dialog: undefined }),
  "Page.screencastFrame": (_, target, { data }) => target.draw?.(data)
}

/** Takes a picture of the page in front as JPEG, or gives the reason in words why there is none. */
const takePicture = async (browser) => {
  if (browser.obstacle !== undefined) {
    return browser.obstacle
  }
  const { page, state } = await findFront(browser)
  if (page === undefined) {
    const all = await within(frontMs, browser.send("Target.getTargets"))
    return all?.targetInfos.some(({ type }) => type === "page")
      ? "a policy of the browser forbids pictures: set DeveloperToolsAvailability to 1"
      : "no page is open"
  }
  if (state === "hidden") {
    return "the page is hidden: the monitor is off, or another window is in front"
  }
  const parts = [...browser.targets.values()].filter((target) => target.page === page.page)
  const known = trouble(parts)
  if (known !== undefined) {
    return known
  }
  const [picture, areAlive] = await Promise.all([
    within(pictureMs, draw(browser, page)),
    within(pictureMs, Promise.all(parts.map((part) => visibility(browser, part))))
  ])
  return (
    trouble(parts) ??
    (areAlive === undefined ? "the page hangs: no picture within 5 seconds" : picture) ??
    "the page draws nothing: no picture within 5 seconds"
  )
}

/** The page that can be seen; else a page that does not answer, and may be in front; else a hidden one. */
const findFront = async (browser) => {
  const pages = [...browser.targets.values()].filter(({ page, sessionId }) => page === sessionId)
  const states = await Promise.all(pages.map((page) => within(frontMs, visibility(browser, page))))
  const state = ["visible", undefined, "hidden"].find((state) => states.includes(state))
  return { page: pages[states.indexOf(state)], state }
}

const visibility = async ({ send }, { sessionId }) => {
  const answer = await send("Runtime.evaluate", { expression: "document.visibilityState" }, sessionId)
  return answer?.result.value
}

/** Gives `undefined` if it takes longer. */
const within = (ms, work) => Promise.race([work, pause(ms)])

/** The reason why there is no picture, if the browser has told it by an event of these targets. */
const trouble = (targets) => {
  const dialog = targets.map(({ dialog }) => dialog).find((text) => text !== undefined)
  if (targets.some(({ hasCrashed }) => hasCrashed)) {
    return "the tab has crashed"
  }
  return dialog === undefined ? undefined : `a dialog is open: ${withoutSecrets(dialog)}`
}

/** Addresses in a text may have a user and password, or a token in the query. They have a slash, a file's ending or a parameter. */
const withoutSecrets = (text) =>
  text.replace(/\S+/g, (word) =>
    /\/|=|\.\w+[?#]/.test(word) ? word.replace(/(?<=.)[?#].+/, "").replace(/\/\/[^/]*@/g, "//") : word
  )

/** The first frame of a screencast: a screenshot that is made smaller changes the page on the screen for a moment. */
const draw = async ({ send }, target) => {
  for (const quality of qualities) {
    const frame = new Promise((resolve) => {
      target.draw = resolve
    })
    await send("Page.startScreencast", { format: "jpeg", maxWidth, quality }, target.sessionId)
    const picture = Buffer.from(await frame, "base64")
    await send("Page.stopScreencast", {}, target.sessionId)
    if (picture.length <= maxBytes) {
      return picture
    }
  }
  return "the picture is larger than 1 MiB"
}
