import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "@effect/vitest"

/** The modules that a module loads at once, itself included. */
const loadedBy = (start: string): ReadonlySet<string> => {
  const loaded = new Set([start])
  for (const module of loaded) {
    const text = readFileSync(module, "utf8")
    for (const [, imported = "", path = ""] of text.matchAll(
      /^(?:import|export) ([^"]*?)from "(\.[^"]+)"/gm
    )) {
      const names = imported.replace(/[{}\s]/g, " ").split(",")
      const isOnlyTypes = imported.startsWith("type ") || names.every((name) => /^\s*(type .*)?$/.test(name))
      if (!isOnlyTypes) {
        loaded.add(join(dirname(module), path))
      }
    }
  }
  return loaded
}

it("vitrine status loads no HTTP client, because it would take as long again to start", () => {
  const loaded = [...loadedBy("src/layers/cli/status.ts")]
  expect(loaded.filter((module) => !existsSync(module))).toEqual([])
  expect(loaded.length).toBeGreaterThan(20)
  expect(loaded.filter((module) => module.includes("/httpClient/"))).toEqual([])
})
