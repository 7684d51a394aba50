import { mkdir, rename, symlink, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Options } from "../../../src/layers/cli/program.ts"
import { quickStatus } from "../../../src/layers/cli/quickStatus.ts"
import { scenario, start } from "../../support/control.ts"
import { says } from "../../support/says.ts"

/** What it prints, and whether the controller has answered. */
const quickly = (options: Options) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.spyOn(console, "log").mockImplementation(() => {})),
    (log) =>
      Effect.map(
        Effect.promise(() => quickStatus(options)),
        (hasAnswered) => ({ hasAnswered, printed: log.mock.calls.flat().join("\n") })
      ),
    (log) => Effect.sync(() => log.mockRestore())
  )

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
      const { hasAnswered, printed } = yield* quickly({ config, json: true })
      const withoutUptime = (text: string) => text.replace(/"uptimeMs": \d+/, "")
      expect(hasAnswered).toBe(true)
      expect(withoutUptime(printed)).toBe(withoutUptime(whole.join("\n")))
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
      expect(yield* quickly({ config })).toEqual({ hasAnswered: false, printed: "" })
    }),
    process.platform === "win32"
  )

  scenario(
    "prints nothing if no controller runs, or if there is no configuration",
    Effect.gen(function* () {
      const { config, socket } = yield* running
      yield* Effect.promise(() => rename(socket, `${socket}.gone`))
      for (const missing of [config, `${config}.gone`, dirname(config)]) {
        expect(yield* quickly({ config: missing })).toEqual({ hasAnswered: false, printed: "" })
      }
    })
  )
})
