/**
 * Bundles the package: the library, and what runs beside any version of Effect, or none: the command line, `vitrine/plain`, and
 * `vitrine/client` for browsers. The modules that the compiler made stay in `dist` for benchmarks and tests, and are not packed.
 *
 * The licences of the packages in it are in `dist/NOTICES.txt`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild"

/**
 * Keeps the Effect of a bundle apart from that of the process: all copies share one global store otherwise, and one
 * version would run the default services and fiber references of another.
 */
const apart: Plugin = {
  name: "apart",
  setup: ({ onLoad }) =>
    onLoad({ filter: /effect\/dist\/esm\/GlobalValue\.js$/ }, ({ path }) => {
      const [before, after, ...others] = readFileSync(path, "utf8").split("`effect/GlobalValue`")
      if (before === undefined || after === undefined || others.length > 0) {
        throw new Error(`${path} does not name its global store where it did`)
      }
      return { contents: `${before}"vitrine/GlobalValue"${after}` }
    })
}

const forNode: BuildOptions = {
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  platform: "node",
  format: "esm",
  target: "node20"
}

/** What is in a bundle as CommonJS requires modules of Node, which are found from anywhere. */
const requiring = (place: string) =>
  `import { createRequire as requireFor } from "node:module"; const require = requireFor(${place})\n`

const forBrowsers: BuildOptions = {
  minify: true,
  platform: "browser",
  target: ["es2020", "chrome90", "firefox91"]
}

/** What a script element gives: `vitrine.connect`, `vitrineHelpers.language`. */
const globals = { client: "vitrine", preview: "vitrine", helpers: "vitrineHelpers" }

/** The program loads one of these, by the Effect that it finds, and the plugin for Vite the bundle. */
const loadedLater: Plugin = {
  name: "loaded later",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(bundle|commandLine)\.ts$/ }, ({ path }) => ({
      path: path.replace(/ts$/, "js"),
      external: true
    }))
}

/** From the entry to the file. */
const bundles: ReadonlyArray<BuildOptions & { readonly entry: string; readonly file: string }> = [
  {
    ...forNode,
    entry: "src/bin.ts",
    file: "dist/bin.js",
    banner: { js: requiring("import.meta.url") },
    plugins: [loadedLater]
  },
  // What it needs of Effect's packages: nothing.
  {
    platform: "node",
    target: "node20",
    entry: "src/vite.ts",
    file: "dist/vite.js",
    format: "esm",
    external: ["vite"],
    plugins: [loadedLater]
  },
  { ...forBrowsers, entry: "src/fake.ts", file: "dist/fake.js", format: "esm" },
  ...Object.entries(globals).flatMap(([name, globalName]) => [
    { ...forBrowsers, entry: `src/${name}.ts`, file: `dist/${name}.js`, format: "esm" as const },
    {
      ...forBrowsers,
      entry: `src/${name}.ts`,
      file: `dist/${name}.global.js`,
      format: "iife" as const,
      globalName
    }
  ])
]

/** The languages whose long words pages can divide: `vitrine/client/hyphen/de`, and `/vitrine/hyphen-de.js`. */
const hyphened = ["da", "de", "en", "es", "fr", "it", "nl", "pl"]

/** From `hyphen`, which is CommonJS, with the patterns of a language. */
const bundleHyphen = async (code: string): Promise<Metafile> => {
  const { metafile } = await build({
    ...forBrowsers,
    stdin: {
      contents: `export { hyphenateSync as hyphenate } from "hyphen/${code}/index.js"`,
      resolveDir: "."
    },
    outfile: `dist/hyphen-${code}.js`,
    format: "esm",
    bundle: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error"
  })
  return metafile
}

const bundle = async ({ entry, file, ...options }: (typeof bundles)[number]): Promise<Metafile> => {
  // Moved into its place in one step: tests may be running the last one.
  const unfinished = `${file}.${process.pid}`
  const { metafile } = await build({
    ...options,
    entryPoints: [entry],
    outfile: unfinished,
    bundle: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error"
  })
  renameSync(unfinished, file)
  return metafile
}

/** With what its parts share in `dist/<folder>`. `headOf` is what a file with this text begins with. */
const bundleInParts = async (
  folder: string,
  options: BuildOptions,
  headOf: (text: string) => string
): Promise<Metafile> => {
  const { metafile, outputFiles = [] } = await build({
    ...forNode,
    ...options,
    outdir: "dist",
    chunkNames: `${folder}/[hash]`,
    splitting: true,
    bundle: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "error"
  })
  mkdirSync(`dist/${folder}`, { recursive: true })
  const names = outputFiles.map(({ path }) => basename(path))
  for (const { path, text } of outputFiles) {
    writeFileSync(`${path}.${process.pid}`, headOf(text) + text)
  }
  for (const { path } of outputFiles.toSorted((a, b) => b.path.length - a.path.length)) {
    renameSync(`${path}.${process.pid}`, path)
  }
  for (const name of readdirSync(`dist/${folder}`).filter((name) => !names.includes(name))) {
    rmSync(join("dist", folder, name))
  }
  return metafile
}

/**
 * `vitrine/plain`, in the place of what the compiler made of it, in as many files as bundlers can take apart. The types of
 * neverthrow are part of its types: no part of the bundle.
 */
const bundlePlain = () =>
  bundleInParts(
    "plain",
    {
      entryPoints: {
        plain: "src/plain.ts",
        "plain/httpTransport": "src/layers/plain/httpTransport.ts",
        "plain/tableSource": "src/layers/plain/tableSource.ts",
        "plain/PlainController": "src/layers/plain/plainController.ts",
        "plain/SseFrame": "src/layers/http/SseFrame.ts"
      },
      external: ["neverthrow"],
      plugins: [apart]
    },
    // Not by `import.meta`: in a bundle that is CommonJS there is none.
    (text) => (/\brequire\b/.test(text) ? requiring("process.execPath") : "")
  )

/**
 * What Effect programs and configurations import, in the place of what the compiler made of it. Its packages stay outside, so that it
 * shares the Effect of whoever imports it.
 */
const bundleLibrary = () =>
  bundleInParts(
    "library",
    {
      entryPoints: {
        index: "src/index.ts",
        nats: "src/nats.ts",
        testing: "src/testing.ts",
        commandLine: "src/commandLine.ts",
        "layers/documents/images/pictureWorker": "src/layers/documents/images/pictureWorker.ts"
      },
      packages: "external",
      minifySyntax: false,
      minifyWhitespace: false
    },
    () => ""
  )

/** The command line, of which each command loads what it needs. It shares its Effect with plugins, which may bring a copy of it. */
const bundleCommandLine = () =>
  bundleInParts("bundle", { entryPoints: ["src/bundle.ts"] }, () => requiring("import.meta.url"))

/**
 * What Node imports as `vitrine`: the modules, once the packages that they need are there. A static import would fail
 * before anything could say what to install. Bundlers and `require` have the modules themselves.
 */
const writeImport = ({ outputs }: Metafile) => {
  const names = outputs["dist/index.js"]?.exports ?? []
  writeFileSync(
    "dist/import.js",
    `import { requirePeers } from "./peers.js"\nrequirePeers()\nexport const { ${names.join(", ")} } = await import("./index.js")\n`
  )
}

/** Node makes the threads for file calls when it loads the first ES module, so their number is set before. */
writeFileSync(
  "dist/bin.cjs",
  `#!/usr/bin/env node\nprocess.env.UV_THREADPOOL_SIZE ??= "16"\nimport("./bin.js")\n`,
  { mode: 0o755 }
)

/** The types of what a script element gives. */
for (const [name, globalName] of Object.entries(globals)) {
  writeFileSync(
    `dist/${name}.global.d.ts`,
    `export * from "./${name}.js"\nexport as namespace ${globalName}\n`
  )
}

/** The declarations that the entries of the package lead to. */
const declarations = (path: string, found = new Set<string>()): Set<string> => {
  if (!found.has(path) && existsSync(path)) {
    found.add(path)
    for (const [, to = ""] of readFileSync(path, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g)) {
      declarations(join(dirname(path), to.replace(/\.[jt]s$/, ".d.ts")), found)
    }
  }
  return found
}

/** Nobody can import the others. */
const removeOtherDeclarations = () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"))
  const wanted = new Set<string>()
  for (const { types } of Object.values<{ readonly types?: string }>(exports)) {
    if (types !== undefined) {
      declarations(join(types), wanted)
    }
  }
  for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
    const path = join("dist", name)
    if (path.endsWith(".d.ts") && !wanted.has(path)) {
      rmSync(path)
    }
  }
}

removeOtherDeclarations()

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

/** What `src/bin.ts` decides by. To load the bundle for it would bring its Effect into the process. */
const { version: effectVersion } = JSON.parse(readFileSync("node_modules/effect/package.json", "utf8"))
writeFileSync("dist/bundle.json", `${JSON.stringify({ effectVersion })}\n`)

/** The types of `hyphen-….js`. */
writeFileSync(
  "dist/hyphen.d.ts",
  `/**
 * Puts soft hyphens (U+00AD) into the words of a text.
 *
 * @since 0.1.0
 * @category utils
 */
export declare const hyphenate: (
  text: string,
  options?: { readonly minWordLength?: number; readonly hyphenChar?: string }
) => string
`
)

const library = await bundleLibrary()
writeImport(library)

const metafiles = await Promise.all([
  library,
  bundleCommandLine(),
  bundlePlain(),
  ...bundles.map(bundle),
  ...hyphened.map(bundleHyphen)
])
for (const [file, { inputs }] of metafiles.flatMap(({ outputs }) => Object.entries(outputs))) {
  if (
    file.startsWith("dist/bin.js") &&
    Object.keys(inputs).some((module) => /node_modules\/(@?effect)\//.test(module))
  ) {
    throw new Error(
      "dist/bin.js has a part of Effect, which takes longer to load than the rest of a short command"
    )
  }
}
const packages = new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs).flatMap(packageOf)))
writeFileSync(
  "dist/NOTICES.txt",
  `The bundles in this folder contain the following packages.\n\n${[...packages]
    .sort()
    .map(notice)
    .join(`\n\n${"-".repeat(80)}\n\n`)}\n`
)
