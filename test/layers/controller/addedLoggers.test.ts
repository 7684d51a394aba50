import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { runTask } from "../../../src/layers/controller/Controller.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import type { Plugin } from "../../../src/services/Plugin.ts"
import { memoryServices } from "../../support/transport.ts"

const environment = Layer.mergeAll(memoryServices("task"), NodeContext.layer, HttpClientNode.layer)

describe("a logger that a plugin adds", () => {
  it.effect("receives logs of fibers that were forked before, until the plugin ends", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const added = yield* Deferred.make<void>()
      const logged = yield* Deferred.make<void>()
      const before: Plugin = {
        name: "before",
        issues: [],
        setup: () =>
          Effect.logInfo("too early").pipe(
            Effect.zipRight(
              Effect.forkScoped(
                Deferred.await(added).pipe(
                  Effect.zipRight(Effect.logInfo("of an older fiber")),
                  Effect.zipRight(Deferred.succeed(logged, undefined))
                )
              )
            ),
            Effect.zipRight(Effect.addFinalizer(() => Effect.logInfo("too late"))),
            Effect.as(Effect.void)
          )
      }
      const logger: Plugin = {
        name: "logger",
        issues: [],
        setup: ({ addLogger }) =>
          addLogger(Logger.make(({ message }) => void lines.push([message].flat().join(" ")))).pipe(
            Effect.zipRight(Deferred.succeed(added, undefined)),
            Effect.as(Effect.void)
          )
      }
      yield* runTask({ cwd: "/exhibit", plugins: [before, logger] }, Deferred.await(logged))
      expect(lines).toEqual(["of an older fiber"])
    }).pipe(Effect.provide(environment))
  )
})
