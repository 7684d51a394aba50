/**
 * Pictures of screens: what `vitrine screen picture` gets of a real Chromium, which watch.mjs starts, by a real controller.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import sharp from "sharp"
import { writeFile } from "../support/contentServer.ts"
import { repository } from "../support/documents.ts"
import { freePort } from "../support/freePort.ts"
import { colourAt } from "../support/pictures.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import * as Received from "../support/Received.ts"
import { eventually } from "../support/waiting.ts"

const token = "token-of-the-watchers"

/** Has the colour of its address, and then does what its address says. */
const exhibit = `<!doctype html>
<title>Exhibit</title>
<h1>Bell</h1>
<script>
  const query = new URLSearchParams(location.search)
  document.documentElement.style.background = query.get("colour")
  const actions = {
    hang: () => { for (;;); },
    ask: () => alert("Call http://me:word@127.0.0.1/help?token=secret or /help?token=secret now. Delete?Yes C#minor")
  }
  setTimeout(actions[query.get("do")], 1000)
</script>
`

/** A controller with the exhibit, whose screens can be seen. */
const makeHall = Effect.gen(function* () {
  const { folder, run, write } = yield* makeProject
  const port = yield* freePort
  yield* writeFile(`${folder}/page/index.html`, exhibit)
  yield* write(
    "vitrine.config.ts",
    `import { contentServer, content, defineConfig } from "vitrine"
export default defineConfig({
  plugins: [
    content({ sources: [] }),
    contentServer({ port: ${port}, site: "page", pictures: { token: "${token}" } })
  ]
})
`
  )
  const start = Effect.tap(run(["start"]), ({ logged }) => logged(/(Ready)/))
  /** What a technician gets: the picture, or the reason why there is none. */
  const look = Effect.fnUntraced(function* (screen: string) {
    const file = `${folder}/${screen}.jpg`
    const { status, stderr } = yield* Effect.flatMap(
      run(["screen", "picture", screen, "--out", file]),
      ({ ended }) => ended
    )
    return status === 0 ? yield* pictureIn(file) : stderr.trim()
  }, Effect.scoped)
  /** Looks until the screen shows it: a browser takes its time. */
  const sees = (screen: string, expected: unknown) =>
    look(screen).pipe(
      Effect.tap((seen) => Effect.try(() => expect(seen).toEqual(expected))),
      Effect.retry({ schedule: Schedule.spaced("1 second"), times: 20 }),
      Effect.orDie
    )
  const first = yield* start
  return { address: `http://127.0.0.1:${port}`, first, sees, start }
})

const pictureIn = (file: string) =>
  Effect.promise(async () => {
    const { format, height = 0, size = 0, width = 0 } = await sharp(await sharp(file).toBuffer()).metadata()
    return { colour: nameOf(await colourAt(file, 0.5, 0.9)), format, height, size, width }
  })

const colours: Readonly<Record<string, string>> = { "100": "red", "001": "blue", "111": "white" }

const nameOf = (channels: ReadonlyArray<number>) =>
  colours[channels.map((channel) => Math.round(channel / 255)).join("")] ?? "another"

/** A screen of that many pixels, if there may be one; gives the arguments and the environment of a browser on it. */
const makeDisplay = (width: number, height: number) =>
  isMissing("Xvfb")
    ? Effect.succeed({ args: ["--headless=new"], env: {} })
    : Effect.acquireRelease(
        Effect.sync(() =>
          spawn(
            pathOf("Xvfb"),
            ["-displayfd", "1", "-screen", "0", `${width}x${height}x24`, "-nolisten", "tcp"],
            { stdio: ["ignore", "pipe", "ignore"] }
          )
        ),
        (server) => Effect.sync(() => server.kill())
      ).pipe(
        Effect.flatMap(({ stdout }) => Received.from(stdout).until((text) => text.includes("\n"))),
        Effect.map((number) => ({ args: [], env: { DISPLAY: `:${number.trim()}` } }))
      )

interface Kiosk {
  readonly size?: readonly [width: number, height: number]
  /** Pixels of the screen for one of the page. */
  readonly scale?: number
  /** Opened before the page of the kiosk, and in front of it. */
  readonly inFront?: ReadonlyArray<string>
}

/** A browser with a profile and a screen of its own, as a service would start it; gives the process of its watcher. */
const openKiosk = Effect.fnUntraced(function* (
  url: string,
  { inFront = [], scale = 1, size: [width, height] = [1920, 1080] }: Kiosk = {}
) {
  const fs = yield* FileSystem.FileSystem
  const display = yield* makeDisplay(width, height)
  const profile = yield* Effect.acquireRelease(
    fs.makeTempDirectory({ prefix: "vitrine-kiosk-" }),
    (profile) =>
      // Processes of the browser may write to it for a moment.
      fs
        .remove(profile, { recursive: true })
        .pipe(Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 50 }), Effect.orDie)
  )
  const args = [
    "--kiosk",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    `--user-data-dir=${profile}`,
    "--window-position=0,0",
    `--window-size=${width / scale},${height / scale}`,
    `--force-device-scale-factor=${scale}`
  ]
  return yield* startWatcher([url, pathOf("chromium"), ...args, ...display.args, ...inFront], display.env)
})

/** Five minutes are three seconds. */
const fast =
  "data:text/javascript,const f = setTimeout; globalThis.setTimeout = (g, ms) => f(g, ms > 1e5 && ms / 100 || ms)"

/** watch.mjs with the token, until the scope ends. */
const startWatcher = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["--import", fast, `${repository}/deploy/kiosk/watch.mjs`, ...args], {
        env: { ...process.env, PICTURES_TOKEN: token, ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (watcher) =>
      Effect.promise(async () => {
        const ended = once(watcher, "close")
        if (watcher.exitCode === null && watcher.kill()) await ended
      })
  ).pipe(
    Effect.map((watcher) => ({
      pid: watcher.pid,
      stderr: Received.from(watcher.stderr),
      stdout: Received.from(watcher.stdout)
    }))
  )

/** Kills the processes that draw pages, of the browser that this process has started. */
const killRenderers = (pid: number | undefined) => {
  const processes = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
  const below = (parent: string): ReadonlyArray<ReadonlyArray<string>> =>
    processes.filter((row) => row[1] === parent).flatMap((row) => [row, ...below(row[0] ?? "")])
  const renderers = below(String(pid)).filter((row) => row.includes("--type=renderer"))
  for (const [id] of renderers) process.kill(Number(id), "SIGKILL")
}

const red = { colour: "red", format: "jpeg", size: expect.any(Number) }

describe.skipIf(isMissing("chromium"))("a picture of a screen", () => {
  it.scopedLive.each([
    ["a wall", {}, 1280, 720],
    ["a portrait", { size: [1080, 1920] }, 1080, 1920],
    ["a screen with two pixels for one", { scale: 2 }, 1280, 720]
  ] as const)("shows what is on it, 1,280 pixels wide at most: %s", ([, kiosk, width, height]) =>
    Effect.gen(function* () {
      const { address, sees } = yield* makeHall
      yield* openKiosk(`${address}/?screen=left&colour=red`, kiosk)
      const near = (pixels: number) => expect.closeTo(pixels, -1)
      yield* sees("left", { ...red, height: near(height), width: near(width) })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("shows the page in front, the browser's page of an error too", () =>
    Effect.gen(function* () {
      const { address, sees } = yield* makeHall
      const nowhere = `http://127.0.0.1:${yield* freePort}/`
      yield* openKiosk(`${address}/?screen=left&colour=red`, { inFront: [nowhere] })
      yield* sees("left", expect.objectContaining({ colour: "white", width: 1280 }))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.each([
    ["hang", "the page hangs: no picture within 5 seconds"],
    ["ask", "a dialog is open: Call http://127.0.0.1/help or /help now. Delete\\?Yes C#minor"]
  ] as const)("is the reason in words, if a page does not draw: %s", ([action, reason]) =>
    Effect.gen(function* () {
      const { address, sees } = yield* makeHall
      yield* openKiosk(`${address}/?screen=left&colour=red&do=${action}`)
      yield* sees("left", expect.stringMatching(new RegExp(`There is no picture of screen left: ${reason}$`)))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("is the reason in words, if the tab has crashed", () =>
    Effect.gen(function* () {
      const { address, sees } = yield* makeHall
      const { pid } = yield* openKiosk(`${address}/?screen=left&colour=red`)
      yield* sees("left", expect.objectContaining(red))
      killRenderers(pid)
      yield* sees("left", expect.stringMatching(/There is no picture of screen left: the tab has crashed$/))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive(
    "is that of each of two kiosks on a machine, and comes after a restart of the controller",
    () =>
      Effect.gen(function* () {
        const { address, first, sees, start } = yield* makeHall
        yield* openKiosk(`${address}/?screen=left&colour=red`)
        yield* openKiosk(`${address}/?screen=right&colour=blue`)
        yield* sees("left", expect.objectContaining(red))
        yield* sees("right", expect.objectContaining({ colour: "blue" }))
        yield* first.signal("SIGKILL")
        yield* start
        yield* sees("right", expect.objectContaining({ colour: "blue" }))
        yield* sees("left", expect.objectContaining(red))
      }).pipe(Effect.provide(NodeContext.layer))
  )
})

interface Request {
  readonly at: number
  readonly body: Received.Received
  readonly line: string
  readonly type: string
}

/** A controller that gives these answers, the last one again and again, to the question what is wanted; with all requests. */
const serveAnswers = Effect.fnUntraced(function* (...statuses: ReadonlyArray<number>) {
  const requests: Array<Request> = []
  let asked = 0
  const server = createServer((request: IncomingMessage, response) => {
    const { headers, method, url } = request
    const type = headers["content-type"] ?? ""
    requests.push({ at: Date.now(), body: Received.from(request), line: `${method} ${url}`, type })
    const isRight = headers.authorization === `Bearer ${token}`
    const status = method === "PUT" ? 204 : statuses[Math.min(asked++, statuses.length - 1)]
    response.writeHead(isRight ? (status ?? 500) : 400, { "Vitrine-Picture": number }).end()
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  return { requests, url: `http://127.0.0.1:${port}/?screen=left%20wall` }
})

const number = "0123456789abcdef0123456789abcdef"

/** A program that says with which arguments and token it runs, and closes its pipes. */
const noBrowser = [
  process.execPath,
  "-e",
  `console.log(process.env.PICTURES_TOKEN, process.argv.slice(1, -1).join())
  for (const pipe of [3, 4]) try { require("fs").closeSync(pipe) } catch {}
  setInterval(() => {}, 1e6)`,
  "--"
]

describe.concurrent("the watcher of a kiosk's browser, with PICTURES_TOKEN", () => {
  it.scopedLive("keeps the token from the browser, and says that a browser has closed its pipe", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* serveAnswers(200)
      const { stdout } = yield* startWatcher([url, ...noBrowser])
      expect(yield* stdout.until((text) => text.includes("\n"))).toBe("undefined --remote-debugging-pipe\n")
      const reason = "the browser has closed its debugging pipe"
      yield* eventually(Effect.sync(() => requests.some(({ body }) => body.text() === reason)))
      expect(requests.slice(0, 2).map(({ line }) => line)).toEqual([
        "GET /vitrine/pictures/wanted?screen=left%20wall",
        "PUT /vitrine/pictures/left%20wall"
      ])
    })
  )

  it.scopedLive("says once that the controller refuses it, and asks five minutes later", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* serveAnswers(401, 401, 404, 400, 403, 204)
      const { stderr } = yield* startWatcher([url, ...noBrowser])
      yield* eventually(Effect.sync(() => requests.length === 7))
      expect(stderr.text()).toBe(
        "The controller refuses PICTURES_TOKEN: nobody can see this screen\n" +
          "The controller takes no pictures: give contentServer({ pictures: { token } }) the PICTURES_TOKEN of this screen\n" +
          "The controller refuses ?screen=: the id of a screen is a plain file name\n" +
          "The controller refuses the host of its address: add it to allowedHosts\n"
      )
      const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0))
      for (const pause of pauses.slice(0, 5)) expect(pause).toBeGreaterThan(2900)
    })
  )

  it.scopedLive("opens no pipe for an address without a screen, and none without the token", () =>
    Effect.gen(function* () {
      const without = yield* startWatcher(["http://127.0.0.1:1/", ...noBrowser])
      expect(yield* without.stdout.until((text) => text.includes("\n"))).toBe("undefined \n")
      expect(without.stderr.text()).toBe("No pictures are taken: the address of the page has no ?screen=\n")
      const asBefore = yield* startWatcher(["http://127.0.0.1:1/?screen=left", ...noBrowser], {
        PICTURES_TOKEN: ""
      })
      expect(yield* asBefore.stdout.until((text) => text.includes("\n"))).toMatch(/^(undefined)? \n$/)
    })
  )
})

describe.skipIf(isMissing("python3"))("the example for other programs than Chromium", () => {
  it.scopedLive.each([
    ["printf", "\\377\\330\\377…", "image/jpeg", Buffer.from("/9j/4oCm", "base64")],
    ["sh", "echo The display is off >&2; exit 1", "text/plain", Buffer.from("The display is off")],
    [
      "no-such-program",
      "",
      "text/plain",
      Buffer.from("[Errno 2] No such file or directory: 'no-such-program'")
    ],
    [
      "sh",
      "printf '\\377\\330\\377'; head -c 1048576 /dev/zero",
      "text/plain",
      Buffer.from("the picture is larger than 1 MiB")
    ]
  ] as const)(
    "sends the picture of a command, or the reason why there is none: %s",
    ([program, text, type, body]) =>
      Effect.gen(function* () {
        const { requests, url } = yield* serveAnswers(200, 204)
        const command = program === "sh" ? [program, "-c", text] : [program, text]
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn(
              pathOf("python3"),
              [
                `${repository}/scratchpad/engines/screen_pictures.py`,
                new URL(url).origin,
                "left wall",
                ...command
              ],
              { env: { ...process.env, PICTURES_TOKEN: token }, stdio: "ignore" }
            )
          ),
          (program) => Effect.sync(() => program.kill())
        )
        yield* eventually(Effect.sync(() => requests.length >= 3))
        expect(requests.slice(0, 2).map(({ line }) => line)).toEqual([
          "GET /vitrine/pictures/wanted?screen=left%20wall",
          "PUT /vitrine/pictures/left%20wall"
        ])
        expect(requests[1]?.type).toMatch(type)
        expect(requests[1]?.body.bytes()).toEqual(body)
      })
  )
})
