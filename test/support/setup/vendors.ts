/**
 * The servers of other makers that the tests of the project `vendors` run against, each installed from npm once, in the folder that
 * `VITRINE_VENDORS` names, or else in `~/.cache/vitrine-vendors`.
 *
 * Tests of one that cannot be installed are named as skipped; where `CI` is set, none may be missing.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"

/** By the names of their folders: exactly what `package.json` there says. */
const vendors = {
  "create-vite-9.3.0": { "create-vite": "9.3.0" },
  "directus-11.3.5": { directus: "11.3.5" },
  "strapi-5.54.0": {
    "@strapi/strapi": "5.54.0",
    "better-sqlite3": "12.11.1",
    react: "^18",
    "react-dom": "^18",
    "react-router-dom": "^6",
    "styled-components": "^6"
  }
} satisfies Record<string, Record<string, string>>

export type VendorName = keyof typeof vendors

declare module "vitest" {
  interface ProvidedContext {
    /** The folder that each is installed in; `null` where it is not. */
    readonly vendors: Readonly<Record<VendorName, string | null>>
  }
}

const cache = process.env.VITRINE_VENDORS ?? join(homedir(), ".cache/vitrine-vendors")

const install = (name: VendorName): string | null => {
  const folder = join(cache, name)
  // npm writes it at the very end.
  const installed = join(folder, "node_modules/.package-lock.json")
  try {
    if (!existsSync(installed)) {
      console.log(`Installing ${name} into ${folder}: some minutes, once …`)
      mkdirSync(folder, { recursive: true })
      const manifest = { private: true, type: "commonjs", dependencies: vendors[name] }
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
      execFileSync("npm", ["install", "--no-audit", "--no-fund"], {
        cwd: folder,
        stdio: ["ignore", "ignore", "inherit"]
      })
    }
    return folder
  } catch (error) {
    const message = `Installing ${name} failed: ${String(error)}`
    if (process.env.CI) {
      throw new Error(message)
    }
    console.warn(`${message}\nTests against it are skipped.`)
    return null
  }
}

export default (project: TestProject) => {
  project.provide("vendors", {
    "create-vite-9.3.0": install("create-vite-9.3.0"),
    "directus-11.3.5": install("directus-11.3.5"),
    "strapi-5.54.0": install("strapi-5.54.0")
  })
}
