/**
 * A project as `vitrine init` makes it, and an editor who breaks a table and mends it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeProject } from "../support/project.ts"
import { eventually } from "../support/waiting.ts"

it.scopedLive(
  "an editor reads in the folder what is wrong, over kills of the controller, until it is mended",
  () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeProject
      const vitrine = (...args: ReadonlyArray<string>) => Effect.flatMap(run(args), ({ ended }) => ended)
      rmSync(join(folder, "vitrine.config.ts"))
      expect(yield* vitrine("init")).toMatchObject({ status: 0 })
      const config = join(folder, "vitrine.config.ts")
      writeFileSync(config, readFileSync(config, "utf8").replaceAll(/port: 8\d+/g, "port: 0"))
      const file = join(folder, "content/VITRINE-PROBLEMS.txt")
      const table = join(folder, "content/Objects.csv")
      const good = readFileSync(table, "utf8")
      const bad = good.replace("The Penrice Fog Bell", "")

      const killed = yield* run(["start"])
      yield* killed.logged(/New version (\S+):/)
      expect(existsSync(file)).toBe(false)
      writeFileSync(table, bad)
      yield* eventually(Effect.sync(() => existsSync(file)))
      const told = readFileSync(file, "utf8")
      expect(told).toMatch(
        /are NOT shown[\s\S]*Objects\.csv, row 2 \(VM-1931-04\), "title": expected text, found nothing\.\r\n/
      )
      yield* killed.signal("SIGKILL")
      yield* killed.ended

      expect(yield* vitrine("check")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("Objects.csv, row 2")
      })
      expect(yield* vitrine("fetch")).toMatchObject({ status: 1 })
      expect(readFileSync(file, "utf8")).toBe(told)

      const mended = yield* run(["start"])
      yield* mended.logged(/Version rejected/)
      writeFileSync(table, good)
      yield* eventually(Effect.sync(() => !existsSync(file)))
      expect(readdirSync(join(folder, "content")).filter((name) => /problems/i.test(name))).toEqual([])
      yield* mended.signal("SIGTERM")
      yield* mended.ended
    }).pipe(Effect.provide(NodeContext.layer))
)
