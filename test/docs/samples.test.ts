/**
 * The samples of the documentation have the types and shapes that they show. Those that run are in the tests of whole
 * programs.
 */
import { execFile } from "node:child_process"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { afterAll, beforeAll, describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as vitrine from "../../src/index.ts"
import { loadConfiguration } from "../../src/layers/controller/loadConfiguration.ts"
import { PlayerReport } from "../../src/services/PlayerReport.ts"
import { allSamples, placeOf, repository, type Sample } from "../support/documents.ts"

/** By what the sample says that it is, behind its language. */
const shapes: Readonly<Record<string, (text: string) => Either.Either<unknown, unknown>>> = {
  Manifest: Schema.decodeUnknownEither(Schema.parseJson(vitrine.VersionStore.Manifest), {
    onExcessProperty: "error"
  }),
  PlayerReport: Schema.decodeUnknownEither(Schema.parseJson(PlayerReport), { onExcessProperty: "error" })
}

const samplesIn = (...languages: ReadonlyArray<string>) =>
  allSamples
    .filter(({ language }) => languages.includes(language))
    .map((sample) => [placeOf(sample), sample] as const)

/** A folder in which the samples find what they import. */
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vitrine-docs-"))
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"))
  vi.stubEnv("TABLE_API_KEY", "key")
  vi.stubEnv("STRAPI_TOKEN", "token")
  vi.stubEnv("DIRECTUS_TOKEN", "token")
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

/** The name under which a sample exports its source. */
const sourceIn = (text: string): string | undefined => /^export const (\w+) = \w*[sS]ource\(/m.exec(text)?.[1]

const nameOf = ({ line, page }: Sample) => `${page.replace(/\W/g, "-")}-${line}.ts`

/** What the compiler says of the samples, in the places of the pages. */
const compile = async (samples: ReadonlyArray<Sample>) => {
  for (const sample of samples) {
    // Each is a module, with the lines of its page.
    await writeFile(
      join(folder, nameOf(sample)),
      `${"\n".repeat(sample.line - 1)}${sample.text}\nexport {}\n`
    )
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n')
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(repository, "tsconfig.json"),
      compilerOptions: { typeRoots: [join(repository, "node_modules/@types")] },
      include: ["*.ts"]
    })
  )
  const program = join(repository, "node_modules/.bin/tsc")
  return new Promise<string>((resolve) => {
    execFile(program, ["-p", folder, "--pretty", "false"], (_, stdout) => resolve(stdout))
  })
}

describe("a sample of the documentation", () => {
  it("is in a language that a test checks", () => {
    const languages = new Set(allSamples.map(({ language }) => language))
    expect([...languages].sort()).toEqual([
      "console",
      "http",
      "js",
      "json",
      "jsx",
      "sh",
      "svelte",
      "text",
      "ts",
      "vue"
    ])
  })

  it("compiles if it is TypeScript", { timeout: 300_000 }, async () => {
    // A sample for another version of Effect is compiled and run beside that.
    const samples = samplesIn("ts").flatMap(([, sample]) => (sample.info === "effect4" ? [] : sample))
    expect(samples.length).toBeGreaterThan(5)
    expect(await compile(samples)).toBe("")
  })

  it.effect.each(samplesIn("ts").filter(([, { text }]) => text.startsWith("// vitrine.config.ts")))(
    "has valid options if it is a configuration: %s",
    ([, sample]) =>
      Effect.gen(function* () {
        const file = join(folder, `configuration-${nameOf(sample)}`)
        yield* Effect.promise(() => writeFile(file, sample.text))
        const { plugins } = yield* loadConfiguration(file, vitrine)
        expect(plugins.flatMap(({ issues }) => issues)).toEqual([])
        expect(plugins.length).toBeGreaterThan(0)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.effect.each(
    samplesIn("ts").filter(([, { page, text }]) => page === "docs/content.md" && sourceIn(text))
  )("has valid options if it is a source: %s", ([, sample]) =>
    Effect.gen(function* () {
      const file = join(folder, `source-${nameOf(sample)}`)
      const configuration = `import { content, defineConfig } from "vitrine"
export default defineConfig({ plugins: [content({ sources: [${sourceIn(sample.text)}] })] })`
      yield* Effect.promise(() => writeFile(file, `${sample.text}\n${configuration}\n`))
      const { plugins } = yield* loadConfiguration(file, vitrine)
      expect(plugins.flatMap(({ issues }) => issues)).toEqual([])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.each(samplesIn("json"))("has the declared shape if it is JSON: %s", (_, { info, text }) => {
    expect(shapes[info]?.(text)).toMatchObject({ _tag: "Right" })
  })
})
