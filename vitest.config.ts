import { existsSync, statfsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** A few whole programs: after all parts, each file in a process of its own. With the parts they are `npm test`. */
const programs = ["test/programs/*.test.ts"]

/** All other whole programs: `npm run test:whole`, with what takes minutes and what is under load. */
const whole = ["test/whole/**/*.test.ts"]

/**
 * What takes minutes, and is not in `.ci/run`: chaos (machines, servers and processes that are killed, suspended and cut
 * off), large pictures and files, hundreds of versions and edits in one page, dev servers, packages from a registry.
 */
const long = [
  "clientMemory",
  "editors",
  "exactStreams",
  "fleet",
  "folderKill",
  "images",
  "killUndo",
  "mediaLarge",
  "natsCluster",
  "natsFaults",
  "operating",
  "packageFromRegistry",
  "pages",
  "renewal",
  "replicaKill",
  "site",
  "venue",
  "venueChaos",
  "venueEvents",
  "venueNights",
  "venueNats",
  "vite",
  "viteMemory"
].map((name) => `test/whole/${name}.test.ts`)

/** What is under load, or measures what it leaves behind: at the end, with no build. */
const load = ["border", "clients", "contentRequests", "floods", "control", "month", "parsing"].map(
  (name) => `test/whole/${name}.test.ts`
)

/** Servers of other makers, which are installed on first use: `npm run test:vendors`. */
const vendors = ["test/vendors/*.test.ts"]

/** The packed package on Node for Windows, under Wine: `npm run test:windows`. */
const windows = ["test/windows/*.test.ts"]

const source = (name: string) => fileURLToPath(new URL(`src/${name}.ts`, import.meta.url))
const resolve = { alias: { "vitrine/testing": source("testing"), vitrine: source("index") } }
/** Builds what the programs are, and finds or installs the others that their tests need. */
const globalSetup = ["build", "bundles", "programs"].map((name) => `test/support/setup/${name}.ts`)
/** Temporary folders lie in memory where it has room for them: a disk syncs thousands of files for milliseconds each. */
const env = ((memory) => {
  if (!existsSync(memory)) return {}
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize < 2 * 1024 ** 3 ? {} : { TMPDIR: memory }
})("/dev/shm")
/** A busy machine may be thirty times slower than a quiet one. */
const testTimeout = 180_000
const hookTimeout = 60_000

export default defineConfig({
  test: {
    maxWorkers: 2,
    minWorkers: 1,
    // Loading its modules anew takes longer than most files of tests do. They wait for half of their time.
    // The pool fails sometimes when it ends a worker early, so all stay.
    poolOptions: { threads: { isolate: false, minThreads: 4, maxThreads: 4 } },
    projects: [
      {
        resolve,
        test: {
          name: "parts",
          setupFiles: ["test/support/setup/httpClient.ts"],
          include: ["test/**/*.test.ts"],
          exclude: [...programs, ...whole, ...vendors, ...windows],
          env,
          pool: "threads",
          testTimeout,
          hookTimeout,
          sequence: { groupOrder: 0 }
        }
      },
      {
        resolve,
        test: {
          name: "programs",
          globalSetup,
          include: programs,
          env,
          pool: "forks",
          testTimeout: 2 * testTimeout,
          sequence: { groupOrder: 1 }
        }
      },
      {
        resolve,
        test: {
          name: "whole",
          globalSetup,
          include: whole,
          exclude: [...long, ...load],
          pool: "forks",
          testTimeout: 2 * testTimeout,
          sequence: { groupOrder: 2 }
        }
      },
      {
        resolve,
        test: {
          name: "long",
          globalSetup,
          include: long,
          pool: "forks",
          testTimeout: 2 * testTimeout,
          sequence: { groupOrder: 3 }
        }
      },
      {
        resolve,
        test: {
          name: "load",
          include: load,
          pool: "forks",
          testTimeout: 2 * testTimeout,
          sequence: { groupOrder: 4 }
        }
      },
      {
        resolve,
        test: {
          name: "vendors",
          globalSetup: ["build", "programs", "vendors"].map((name) => `test/support/setup/${name}.ts`),
          include: vendors,
          pool: "forks",
          testTimeout: 2 * testTimeout,
          hookTimeout: 2 * testTimeout,
          sequence: { groupOrder: 5 }
        }
      },
      {
        resolve,
        test: {
          name: "windows",
          globalSetup: ["build", "windows"].map((name) => `test/support/setup/${name}.ts`),
          include: windows,
          pool: "forks",
          testTimeout: 2 * testTimeout,
          sequence: { groupOrder: 6 }
        }
      }
    ]
  }
})
