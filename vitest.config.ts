import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** Whole programs, and whatever is under load: they must not take each other's processor. */
const alone = ["test/e2e/**/*.test.ts", "test/limits/**/*.test.ts"]

/** The types of a project lack it; the runner knows it. */
const oneAtATime = { fileParallelism: false }

const resolve = { alias: { vitrine: fileURLToPath(new URL("src/index.ts", import.meta.url)) } }
const testTimeout = 30_000

export default defineConfig({
  test: {
    globalSetup: ["test/setup/build.ts", "test/setup/chromium.ts", "test/setup/curl.ts"],
    maxWorkers: 2,
    minWorkers: 1,
    // Loading its modules anew takes longer than most files of tests do.
    poolOptions: { threads: { isolate: false } },
    projects: [
      {
        resolve,
        test: {
          name: "parts",
          include: ["test/**/*.test.ts"],
          exclude: alone,
          pool: "threads",
          testTimeout,
          sequence: { groupOrder: 0 }
        }
      },
      {
        resolve,
        test: {
          name: "whole",
          include: alone,
          ...oneAtATime,
          pool: "forks",
          testTimeout,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
