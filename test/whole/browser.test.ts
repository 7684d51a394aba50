import { createServer } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Scope from "effect/Scope"
import type { Page } from "playwright-core"
import { listen } from "../../src/layers/http/Listen.ts"
import { Browser, openTab } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import * as transport from "../support/transport.ts"

const promoted = "content:version:promoted"

/** The page is blank; what it does is given to it by the test. */
const blank = "<!doctype html><title>blank</title>"

/** A page from its own origin. */
const servePage = Effect.suspend(() =>
  listen(
    createServer((_request, response) => response.setHeader("Content-Type", "text/html").end(blank)),
    { host: "127.0.0.1", port: 0 }
  )
).pipe(Effect.map(({ port }) => `http://127.0.0.1:${port}/`))

const transportUrl = Effect.map(transport.port, (port) => `http://127.0.0.1:${port}`)

/** Subscribes a page; what it receives is kept in `window.received`, its stream in `window.stream`. */
const subscribe = (page: Page, url: string) =>
  Effect.promise(() =>
    page.evaluate(
      `window.received ??= [];
       window.stream = new EventSource(${JSON.stringify(`${url}/events`)});
       stream.addEventListener(${JSON.stringify(promoted)}, ({ data }) => received.push(JSON.parse(data)));`
    )
  )

const waitFor = (page: Page, condition: string) => Effect.promise(() => page.waitForFunction(condition))

const evaluate = (page: Page, expression: string) =>
  Effect.promise((): Promise<unknown> => page.evaluate(expression))

const isOpen = "stream.readyState === EventSource.OPEN"

const environment = Layer.mergeAll(Browser.layer, NodeContext.layer, Logger.minimumLogLevel(LogLevel.Warning))

describe.skipIf(isMissing("chromium"))("a browser", () => {
  layer(environment, { excludeTestServices: true })((it) => {
    for (const origin of ["another origin", "a file"] as const) {
      it.scoped(`subscribes from a page of ${origin}, and sends commands`, () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const file = `${yield* fs.makeTempDirectoryScoped()}/page.html`
          yield* fs.writeFileString(file, blank)
          const page = yield* openTab(origin === "a file" ? `file://${file}` : yield* servePage)
          const url = yield* transportUrl

          yield* transport.publish(promoted, 1)
          yield* subscribe(page, url)
          yield* waitFor(page, "received.length === 1")
          yield* transport.publish(promoted, 2)
          yield* waitFor(page, "received.length === 2")
          expect(yield* evaluate(page, "received")).toEqual([1, 2])

          yield* transport.register("content.ack", Effect.succeed("acknowledged"))
          const answer = yield* evaluate(
            page,
            `fetch(${JSON.stringify(`${url}/command`)}, {
             method: "POST",
             headers: { "Content-Type": "application/json" },
             body: JSON.stringify({ type: "content.ack" })
           }).then((response) => response.json())`
          )
          expect(answer).toEqual({ result: "acknowledged" })
        }).pipe(Effect.provide(transport.layer()))
      )
    }

    it.scoped("reconnects after a restart, and receives the events that it missed", () =>
      Effect.gen(function* () {
        const page = yield* openTab(yield* servePage)
        const firstLife = yield* Scope.make()
        const before = yield* Layer.buildWithScope(transport.layer(), firstLife)
        const port = yield* Effect.provide(transport.port, before)
        yield* subscribe(page, `http://127.0.0.1:${port}`)
        yield* waitFor(page, isOpen)
        yield* Scope.close(firstLife, Exit.void)
        yield* waitFor(page, "stream.readyState === EventSource.CONNECTING")

        const after = yield* Layer.build(transport.layer({ port }))
        yield* Effect.provide(transport.publish(promoted, "anew"), after)
        yield* waitFor(page, "received.length === 1")
        expect(yield* evaluate(page, "received")).toEqual(["anew"])
      })
    )

    it.scoped("stops trying when all streams are in use, and connects with a new stream later", () =>
      Effect.gen(function* () {
        const url = yield* transportUrl
        const pageUrl = yield* servePage
        const first = yield* openTab(pageUrl)
        const second = yield* openTab(pageUrl)
        yield* subscribe(first, url)
        yield* waitFor(first, isOpen)
        yield* subscribe(second, url)
        yield* waitFor(second, "stream.readyState === EventSource.CLOSED")

        yield* evaluate(first, "stream.close()")
        yield* transport.clientsBecome(0)
        yield* subscribe(second, url)
        yield* waitFor(second, isOpen)
      }).pipe(Effect.provide(transport.layer({ maxClients: 1 })))
    )

    it.scoped("cannot read, send or keep a stream open from a page that is not allowed", () =>
      Effect.gen(function* () {
        const allowed = yield* servePage
        const foreign = yield* servePage
        yield* Effect.gen(function* () {
          let commands = 0
          yield* transport.register(
            "content.ack",
            Effect.sync(() => ++commands)
          )
          const url = yield* transportUrl
          const name = `http://h0.localhost:${yield* transport.port}`
          const page = yield* openTab(foreign)
          for (const attempt of [
            `fetch("${url}/status")`,
            `fetch("${name}/status")`,
            `fetch("${url}/status", { headers: { Authorization: "Bearer x" } })`,
            `fetch("${url}/command", { method: "POST", body: '{"type":"content.ack"}' })`
          ]) {
            expect(yield* evaluate(page, `${attempt}.then(() => "read", () => "failed")`)).toBe("failed")
          }
          for (const blind of [
            `fetch("${url}/command", { method: "POST", mode: "no-cors", body: '{"type":"content.ack"}' })`,
            `new Promise((resolve) => {
             const image = new Image()
             image.onload = image.onerror = resolve
             image.src = "${url}/events"
           })`
          ]) {
            yield* evaluate(page, `${blind}.then(() => true)`)
          }
          yield* subscribe(page, url)
          yield* waitFor(page, "stream.readyState === EventSource.CLOSED")
          yield* transport.clientsBecome(0)
          expect(commands).toBe(0)
        }).pipe(Effect.provide(transport.layer({ allowedOrigins: [new URL(allowed).origin] })))
      })
    )

    it.scoped("connects where its page, the host and the token are right", () =>
      Effect.gen(function* () {
        const allowed = yield* servePage
        const token = "a-token-that-nobody-guesses"
        const options = {
          allowedOrigins: [new URL(allowed).origin],
          allowedHosts: ["127.0.0.1"],
          requireJson: true,
          token
        }
        yield* Effect.gen(function* () {
          yield* transport.register("content.ack", Effect.succeed("acknowledged"))
          const url = yield* transportUrl
          const page = yield* openTab(allowed)
          const send = (url: string, token: string) =>
            evaluate(
              page,
              `fetch("${url}/command", {
               method: "POST",
               headers: { "Content-Type": "application/json", Authorization: "Bearer ${token}" },
               body: '{"type":"content.ack"}'
             }).then((response) => response.json(), () => "failed")`
            )
          expect(yield* send(url, token)).toEqual({ result: "acknowledged" })
          expect(yield* send(url, "wrong")).toEqual({
            error: { message: expect.stringMatching(/^Token required/) }
          })
          expect(yield* send(`http://h0.localhost:${yield* transport.port}`, token)).toBe("failed")

          yield* evaluate(page, `{ window.stream = new EventSource("${url}/events?token=${token}") }`)
          yield* waitFor(page, isOpen)
          yield* evaluate(page, `{ window.stream = new EventSource("${url}/events") }`)
          yield* waitFor(page, "stream.readyState === EventSource.CLOSED")
        }).pipe(Effect.provide(transport.layer(options)))
      })
    )

    it.scoped("lets six tabs of a page subscribe, and the seventh when one of them is closed", () =>
      Effect.gen(function* () {
        const url = yield* transportUrl
        const pageUrl = yield* servePage
        const open = Effect.tap(openTab(pageUrl), (page) => subscribe(page, url))
        const tabs = yield* Effect.replicateEffect(open, 6)
        yield* Effect.forEach(tabs, (tab) => waitFor(tab, isOpen))
        const seventh = yield* open
        yield* transport.publish(promoted, 1)
        yield* Effect.forEach(tabs, (tab) => waitFor(tab, "received.length === 1"))
        expect(yield* evaluate(seventh, "stream.readyState")).toBe(0)

        yield* evaluate(tabs[0] as Page, "stream.close()")
        yield* waitFor(seventh, "received.length === 1")
      }).pipe(Effect.provide(transport.layer()))
    )
  })
})
