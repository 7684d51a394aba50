/**
 * A real browser: headless Chromium.
 */

import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { type BrowserContext, chromium } from "playwright-core"
import { pathOf } from "./programs.ts"

/** A name of this machine that browsers take for another one: pages from there are not secure. */
export const otherMachine = "kiosk.test"

/** A browser profile: its tabs share connections, cookies and storage. */
export class Browser extends Context.Tag("test/Browser")<Browser, BrowserContext>() {
  static readonly layer = Layer.suspend(() => layerOf([]))

  /** With a back/forward cache, which playwright turns off. */
  static readonly layerWithPageCache = Layer.suspend(() => layerOf(["--disable-back-forward-cache"]))
}

const layerOf = (ignoreDefaultArgs: Array<string>) =>
  Layer.scoped(
    Browser,
    Effect.acquireRelease(
      Effect.promise(() =>
        chromium.launch({
          executablePath: pathOf("chromium"),
          ignoreDefaultArgs,
          args: [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-background-networking",
            `--host-resolver-rules=MAP ${otherMachine} 127.0.0.1`
          ]
        })
      ),
      (browser) => Effect.promise(() => browser.close())
    ).pipe(
      Effect.flatMap((browser) => Effect.promise(() => browser.newContext({ viewport: fullHd }))),
      // Only the test has a time limit.
      Effect.tap((context) => Effect.sync(() => context.setDefaultTimeout(0)))
    )
  )

const fullHd = { width: 1920, height: 1080 }

/** A tab that shows the address; closed with the scope. */
export const openTab = (url: string) =>
  Effect.acquireRelease(
    Effect.flatMap(Browser, (context) => Effect.promise(() => context.newPage())),
    (page) => Effect.promise(() => page.close())
  ).pipe(Effect.tap((page) => Effect.promise(() => page.goto(url))))

/** For tests in a browser before servers of this process, whose log has warnings only. */
export const inBrowser = Layer.merge(Browser.layer, NodeContext.layer).pipe(
  Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Warning))
)
