import { mkdir, rename, symlink, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { scenario, start } from "../../support/control.ts"
import { quickly, says } from "../../support/says.ts"

const running = Effect.gen(function* () {
  const { configurationFolder, socket } = yield* start
  const config = join(configurationFolder, "vitrine.config.mjs")
  yield* Effect.promise(() => writeFile(config, ""))
  return { config, socket }
})

describe("vitrine status, without Effect", () => {
  scenario(
    "prints what the whole command prints",
    Effect.gen(function* () {
      const { config } = yield* running
      const whole = yield* says("status", "--config", config, "--json").pipe(
        Effect.provide(NodeContext.layer)
      )
      const { hasAnswered, printed } = yield* quickly("status", { config, json: true })
      const withoutUptime = (text: string) => text.replace(/"uptimeMs": \d+/, "")
      expect(hasAnswered).toBe(true)
      expect(withoutUptime(printed)).toBe(withoutUptime(whole.join("\n")))
    })
  )

  scenario(
    "leaves it to the whole command to say that no players report here",
    Effect.gen(function* () {
      const { config } = yield* running
      expect(yield* quickly("fleet", { config })).toEqual({ hasAnswered: false, printed: "" })
    })
  )

  scenario(
    "prints nothing if a link leads to the socket",
    Effect.gen(function* () {
      const { config, socket } = yield* running
      yield* Effect.promise(async () => {
        const real = join(dirname(dirname(socket)), "elsewhere")
        await mkdir(real)
        await rename(socket, join(real, basename(socket)))
        await symlink(join(real, basename(socket)), socket)
      })
      expect(yield* quickly("status", { config })).toEqual({ hasAnswered: false, printed: "" })
    }),
    process.platform === "win32"
  )

  scenario(
    "prints nothing if no controller runs, or if there is no configuration",
    Effect.gen(function* () {
      const { config, socket } = yield* running
      yield* Effect.promise(() => rename(socket, `${socket}.gone`))
      for (const missing of [config, `${config}.gone`, dirname(config)]) {
        expect(yield* quickly("status", { config: missing })).toEqual({ hasAnswered: false, printed: "" })
      }
    })
  )
})
