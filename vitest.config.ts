import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** Whole programs, and whatever is under load: they must not take each other's processor. */
const alone = ["test/e2e/**/*.test.ts", "test/limits/**/*.test.ts"]

const resolve = { alias: { vitrine: fileURLToPath(new URL("src/index.ts", import.meta.url)) } }
const testTimeout = 30_000

export default defineConfig({
  test: {
    globalSetup: ["test/setup/build.ts", "test/setup/chromium.ts", "test/setup/curl.ts"],
    projects: [
      {
        resolve,
        test: {
          name: "parts",
          include: ["test/**/*.test.ts"],
          exclude: alone,
          poolOptions: { forks: { maxForks: 2, minForks: 1 } },
          testTimeout,
          sequence: { groupOrder: 0 }
        }
      },
      {
        resolve,
        test: {
          name: "whole",
          include: alone,
          poolOptions: { forks: { maxForks: 1, minForks: 1 } },
          testTimeout,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
