/**
 * Makes one file each of the built modules that tests start in their own processes: it starts in a third of the time
 * that hundreds of modules need.
 *
 * What those processes compile is kept for the next ones, on versions of Node that can (22 and newer).
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import type { TestProject } from "vitest/node"

const inSupport = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of `holder.mjs` and `promoter.mjs`. */
    readonly bundles: string
  }
}

export default async (project: TestProject) => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-bundles-"))
  await build({
    entryPoints: ["holder.mjs", "promoter.mjs"].map(inSupport),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: {
      js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url)'
    },
    logLevel: "error"
  })
  project.provide("bundles", folder)
  process.env.NODE_COMPILE_CACHE ??= join(folder, "compiled")
  return () => rmSync(folder, { recursive: true })
}
