/**
 * Bundles what runs beside any version of Effect, or none: the command line, and `vitrine/plain`.
 *
 * The licences of the packages in it are in `dist/NOTICES.txt`.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { build, type Metafile } from "esbuild"

/** From the entry to the file, which takes the place of the module that the compiler made of the same entry. */
const bundles = [
  // Its types are part of those of vitrine/plain, so that it stays a dependency of its own.
  { entry: "src/plain.ts", file: "dist/plain.js", external: ["neverthrow"] },
  { entry: "src/bundle.ts", file: "dist/bundle.js", external: [] }
]

const bundle = async ({ entry, external, file }: (typeof bundles)[number]): Promise<Metafile> => {
  // Moved into its place in one step: tests may be running the last one.
  const unfinished = `${file}.${process.pid}`
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: unfinished,
    external,
    bundle: true,
    minifyWhitespace: true,
    lineLimit: 160,
    platform: "node",
    format: "esm",
    target: "node20",
    // What is in there as CommonJS requires modules of Node.
    banner: {
      js: `import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url)`
    },
    legalComments: "none",
    metafile: true,
    logLevel: "error"
  })
  renameSync(unfinished, file)
  rmSync(`${file}.map`, { force: true })
  return metafile
}

/** The folder of the package that a bundled module is from. */
const packageOf = (module: string): ReadonlyArray<string> =>
  module.match(/^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []

const notice = (folder: string): string => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
  if (files.length === 0) {
    throw new Error(`${folder} is in a bundle, and has no file with its licence`)
  }
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim())
  return [`${name} ${version} (${license})`, ...texts].join("\n\n")
}

const metafiles = await Promise.all(bundles.map(bundle))
const packages = new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs).flatMap(packageOf)))
writeFileSync(
  "dist/NOTICES.txt",
  `The bundles in this folder contain the following packages.\n\n${[...packages]
    .sort()
    .map(notice)
    .join(`\n\n${"-".repeat(80)}\n\n`)}\n`
)
