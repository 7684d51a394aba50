import { hostname } from "node:os"
import { dirname, relative } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createJiti } from "jiti"
import { nodeIdOf } from "../../../src/internal/machine.ts"
import { loadConfiguration } from "../../../src/layers/controller/loadConfiguration.ts"
import { locateConfiguration } from "../../../src/layers/controller/locateConfiguration.ts"

const load = (file: string, library: object = {}) =>
  Effect.flatMap(locateConfiguration(file), (file) => loadConfiguration(file, library))

const plugin = "{ name: 'p', issues: [], setup: () => {} }"

describe("loadConfiguration", () => {
  const scenario = (
    title: string,
    test: (
      write: (name: string, content: string) => Effect.Effect<string, unknown>
    ) => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
  ) =>
    it.scoped(title, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* test((name, content) =>
          Effect.as(fs.writeFileString(`${folder}/${name}`, content), `${folder}/${name}`)
        )
      }).pipe(Effect.provide(NodeContext.layer))
    )

  const failureOf = (file: string) => Effect.map(Effect.flip(load(file)), ({ message }) => message)

  for (const name of ["vitrine.config.ts", "vitrine.config.js", "vitrine.config.mjs"]) {
    scenario(`loads ${name}`, (write) =>
      Effect.gen(function* () {
        const type = name.endsWith("ts") ? ": number" : ""
        const file = yield* write(name, `const n${type} = 1\nexport default { plugins: [${plugin}] }`)
        const configuration = yield* load(file)
        expect(configuration.file).toBe(file)
        expect(`${configuration.cwd}/${name}`).toBe(file)
        expect(configuration.plugins.map(({ name }) => name)).toEqual(["p"])
      })
    )
  }

  scenario("lets Node load TypeScript if Node can, and translates what Node refuses", (write) =>
    Effect.gen(function* () {
      const name = "name: 'loaded: ' + typeof __filename"
      const plain = yield* write(
        "vitrine.config.ts",
        `export default { plugins: [{ ...${plugin}, ${name} }] }`
      )
      const refused = yield* write(
        "enum.config.ts",
        `enum Side { Left }\nexport default { plugins: [{ ...${plugin}, ${name} }], screens: [{ id: Side[0] }] }`
      )
      const byNode = "typescript" in process.features && process.features.typescript !== false
      expect((yield* load(plain)).plugins[0]?.name).toBe(`loaded: ${byNode ? "undefined" : "string"}`)
      const { identity, plugins } = yield* load(refused)
      expect(plugins[0]?.name).toBe("loaded: string")
      expect(identity.screens).toEqual([{ id: "Left" }])
    })
  )

  scenario("gives the text that it has loaded, although the file has changed meanwhile", (write) =>
    Effect.gen(function* () {
      const text = [
        'import { writeFileSync } from "node:fs"',
        'writeFileSync(import.meta.filename, "export default {}")',
        `export default { plugins: [${plugin}] }`
      ].join("\n")
      const file = yield* write("vitrine.config.mjs", text)
      expect((yield* load(file)).text).toBe(text)
      expect(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(file))).not.toBe(text)
    })
  )

  for (const name of ["vitrine.config.ts", "vitrine.config.mjs"]) {
    scenario(`gives ${name} the running library, even if another copy is installed`, (write) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = yield* write(
          name,
          'import { plugin } from "vitrine"\nexport default { plugins: [plugin] }'
        )
        yield* fs.makeDirectory(`${dirname(file)}/node_modules/vitrine`, { recursive: true })
        yield* write("node_modules/vitrine/package.json", '{ "type": "module", "main": "index.js" }')
        yield* write("node_modules/vitrine/index.js", `export const plugin = ${plugin}`)
        const running = { name: "running", issues: [], setup: () => Effect.succeed(Effect.void) }
        const configuration = yield* load(file, { plugin: running })
        expect(configuration.plugins[0]).toBe(running)
      })
    )
  }

  for (const name of ["vitrine.config.ts", "vitrine.config.mjs"]) {
    scenario(`gives ${name} and its imports the running library, even if none is installed`, (write) =>
      Effect.gen(function* () {
        yield* write("plugins.ts", 'import { plugin } from "vitrine"\nexport const plugins = [plugin]')
        const file = yield* write(name, 'import { plugins } from "./plugins.ts"\nexport default { plugins }')
        const plugin = { name: "p", issues: [], setup: () => Effect.succeed(Effect.void) }
        const configuration = yield* load(file, { plugin })
        expect(configuration.plugins[0]).toBe(plugin)
      })
    )
  }

  scenario(
    "neither keeps the compiled file in the shared temporary folder, nor runs what lies there",
    (write) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const shared = yield* fs.makeTempDirectoryScoped()
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            const before = process.env.TMPDIR
            process.env.TMPDIR = shared
            return before
          }),
          (before) =>
            Effect.sync(() => {
              if (before === undefined) {
                delete process.env.TMPDIR
              } else {
                process.env.TMPDIR = before
              }
            })
        )
        const text = `export default { plugins: [${plugin}] }`
        const file = yield* write("vitrine.config.ts", text)
        yield* load(file)
        expect(yield* fs.readDirectory(shared)).toEqual([])

        const compile = createJiti(import.meta.url, { interopDefault: false })
        yield* Effect.promise(async () =>
          compile.evalModule(text, { filename: file, async: true, forceTranspile: true })
        )
        const names = yield* fs.readDirectory(`${shared}/jiti`)
        expect(names).toHaveLength(1)
        for (const name of names) {
          const compiled = yield* fs.readFileString(`${shared}/jiti/${name}`)
          yield* fs.writeFileString(`${shared}/jiti/${name}`, compiled.replaceAll("'p'", "'planted'"))
        }
        const configuration = yield* load(file)
        expect(configuration.plugins.map(({ name }) => name)).toEqual(["p"])
      })
  )

  scenario("resolves its imports beside the file, from any working directory", (write) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* write(
        "vitrine.config.ts",
        'import { name } from "./steps/name.ts"\nexport default { plugins: [{ ...PLUGIN, name }] }'.replace(
          "PLUGIN",
          plugin
        )
      )
      const folder = dirname(file)
      yield* fs.makeDirectory(`${folder}/steps`)
      yield* fs.makeDirectory(`${folder}/node_modules/upper`, { recursive: true })
      yield* write("node_modules/upper/package.json", '{ "name": "upper", "main": "index.js" }')
      yield* write("node_modules/upper/index.js", "module.exports = (text) => text.toUpperCase()")
      yield* write("steps/name.txt", "from a file")
      yield* write(
        "steps/name.ts",
        `import { readFileSync } from "node:fs"
import upper from "upper"
export const name: string = upper(readFileSync(new URL("./name.txt", import.meta.url), "utf8"))`
      )
      expect((yield* load(relative(process.cwd(), file))).plugins.map(({ name }) => name)).toEqual([
        "FROM A FILE"
      ])
    })
  )

  scenario("names a missing file", (write) =>
    Effect.gen(function* () {
      const file = yield* write("other.ts", "")
      expect(yield* failureOf(`${file}x`)).toBe(`${file}x: there is no such file.`)
    })
  )

  scenario("asks for a file if a folder is given", (write) =>
    Effect.gen(function* () {
      const folder = dirname(yield* write("other.ts", ""))
      expect(yield* failureOf(folder)).toBe(
        `${folder}: this is a folder. Name the configuration file in it with --config FILE.`
      )
    })
  )

  scenario("refuses a device, a pipe and a file of more than 1 MiB", (write) =>
    Effect.gen(function* () {
      const file = yield* write(
        "vitrine.config.ts",
        `//${"x".repeat(1024 ** 2)}\nexport default { plugins: [] }`
      )
      expect(yield* failureOf(file)).toBe(`${file}: it could not be loaded. It is larger than 1 MiB.`)
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(file)
      yield* fs.symlink("/dev/zero", file)
      expect(yield* failureOf(file)).toBe(
        `${file}: this is a pipe or a device. A configuration is a plain file.`
      )
      const replaced = yield* Effect.flip(loadConfiguration(file, {}))
      expect(replaced.message).toBe(
        `${file}: it could not be loaded. This is a pipe or a device, and no plain file.`
      )
    })
  )

  scenario("keeps its translation only in a folder that a controller has made for its user alone", (write) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* write("vitrine.config.ts", "export default { plugins: [] }")
      const folder = `${dirname(file)}/.vitrine`
      const again = loadConfiguration(file, {}, true)
      yield* fs.makeDirectory(folder, { mode: 0o755 })
      yield* again
      expect(yield* fs.readDirectory(folder)).toEqual([])
      yield* fs.chmod(folder, 0o700)
      yield* again
      expect(yield* fs.readDirectory(folder)).toEqual(["translated"])
      const translated = `${folder}/translated`
      const [name = ""] = yield* fs.readDirectory(translated)
      const kept = yield* fs.readFileString(`${translated}/${name}`)
      yield* fs.writeFileString(`${translated}/${name}`, kept.replaceAll("plugins", "kept"))
      expect((yield* Effect.flip(again)).message).toContain("kept")
    })
  )

  it.effect("lists the names that it looked for", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(locateConfiguration(undefined))
      expect(error.message).toContain("vitrine.config.ts, vitrine.config.js, vitrine.config.mjs")
      expect(error.message).toContain('Begin a project with "npx vitrine init", or name a')
      expect(error.message).toContain("--config")
    }).pipe(Effect.provide(NodeContext.layer))
  )

  scenario("reports a syntax error with its file and place", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.ts", "export default {\n  plugins: [\n}")
      const message = yield* failureOf(file)
      expect(message).toMatch(/^\S+: it could not be loaded\. \S.*\S\n {2}\S+:3:0$/)
      expect(message).toContain(`${file}: it`)
    })
  )

  scenario("reports an error that the file throws", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.mjs", "throw new Error('TABLE_API_KEY is not set')")
      expect(yield* failureOf(file)).toBe(`${file}: it could not be loaded. TABLE_API_KEY is not set`)
    })
  )

  for (const [module, packages] of [
    ["effect/Layer", "effect@3 @effect/platform@0 @effect/platform-node@0"],
    ["@effect/platform-node", "effect@3 @effect/platform@0 @effect/platform-node@0"],
    ["@nats-io/jetstream", "@nats-io/transport-node@3 @nats-io/jetstream@3"]
  ]) {
    for (const name of ["vitrine.config.ts", "vitrine.config.mjs"]) {
      scenario(`explains how to install ${module} for ${name}`, (write) =>
        Effect.gen(function* () {
          const message = yield* failureOf(yield* write(name, `import "${module}"`))
          expect(message).toContain("it could not be loaded. Cannot find ")
          expect(message.split("\n").at(-1)).toBe(`  Install it: npm install ${packages}`)
        })
      )
    }
  }

  scenario("gives no advice for other packages", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.mjs", 'import "effective"')
      expect(yield* failureOf(file)).not.toContain("npm install")
    })
  )

  scenario("reports a wrong export", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.mjs", "export default { plugin: [], plugins: [{}, 7] }")
      const message = yield* failureOf(file)
      expect(message).toContain(file)
      expect(message).toContain(
        'plugin: there is no such key; known are: "node", "screens", "players", "hours", "alerts", "plugins", "services"'
      )
      expect(message).toContain("plugins[0]: expected a plugin")
      expect(message).toContain("plugins[1]: expected a plugin")
    })
  )

  scenario("explains what services must be", (write) =>
    Effect.gen(function* () {
      const file = yield* write(
        "vitrine.config.mjs",
        "export default { plugins: [], services: { '~effect/Layer': true } }"
      )
      expect(yield* failureOf(file)).toContain("services: expected a Layer of effect 3")
    })
  )

  /** Each configuration in a new file: a module is loaded only once. */
  const withMembers = (members: object) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/vitrine.config.mjs`
      yield* fs.writeFileString(file, `export default { plugins: [], ...${JSON.stringify(members)} }`)
      return file
    })

  it.scoped("returns the machine, the screens and the players of the configuration", () =>
    Effect.gen(function* () {
      const identity = {
        node: { id: "hall-3", label: "Hall 3, left", role: "player" },
        screens: [{ id: "left wall", label: "Left wall" }, { id: "right" }],
        players: [{ id: "Hall 4" }, { id: "hall 4", label: "Hall 4, lower case" }]
      }
      expect(yield* load(yield* withMembers(identity))).toMatchObject({ identity })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("uses the host name by default, and expects no screens or players", () =>
    Effect.gen(function* () {
      const id = nodeIdOf(hostname())
      const labelled = yield* load(
        yield* withMembers({ node: { label: "Hall 3" }, screens: [], players: [] })
      )
      expect(labelled.identity).toEqual({ node: { id, label: "Hall 3" } })
      expect((yield* load(yield* withMembers({}))).identity).toEqual({ node: { id } })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  const aLine = "expected one line of at most 64 characters, without spaces around it"
  const aNodeId = `${aLine} and without "/"`
  const aNode = aNodeId.replace("expected", "expected the id of the player's node:")
  const anId = 'expected a consumerId, which is one plain file name, such as "screen-1"'
  for (const [title, members, mistakes] of [
    [
      "names the invalid member of the machine",
      { node: { id: "hall/a", label: "two\nlines", role: "r".repeat(65), name: "hall" } },
      [
        'node.name: there is no such key; known are: "id", "label", "role"',
        `node.id: ${aNodeId}, got "hall/a"`,
        `node.label: ${aLine}, got "two\\nlines"`,
        `node.role: ${aLine}, got "${"r".repeat(65)}"`
      ]
    ],
    [
      "names invalid screens",
      {
        screens: [
          { id: "../left", label: 7 },
          "right",
          { label: "Right" },
          { id: "left", width: 1080, picture: "no" }
        ]
      },
      [
        `screens[0].id: ${anId}, got "../left"`,
        `screens[0].label: ${aLine}, got 7`,
        'screens[1]: expected a screen, such as { id: "left" }, got "right"',
        "screens[2].id: is required",
        'screens[3].width: there is no such key; known are: "id", "label", "hours", "picture"',
        'screens[3].picture: expected true or false, got "no"'
      ]
    ],
    [
      "names an id that two screens have",
      { screens: [{ id: "left" }, { id: "right" }, { id: "LEFT" }] },
      ['screens[2].id: another screen has the id "LEFT" too, or an id that means the same file']
    ],
    [
      "limits the number of screens",
      { screens: Array.from({ length: 257 }, (_, index) => ({ id: `screen-${index}` })) },
      ["screens: expected at most 256 screens"]
    ],
    [
      "names invalid players",
      {
        players: [
          { id: "hall/a" },
          { id: "hall\n3", label: 7 },
          "hall-4",
          { label: "Hall 5" },
          { id: "hall-6", screens: [] }
        ]
      },
      [
        `players[0].id: ${aNode}, got "hall/a"`,
        `players[1].id: ${aNode}, got "hall\\n3"`,
        `players[1].label: ${aLine}, got 7`,
        'players[2]: expected a player, such as { id: "hall-3" }, got "hall-4"',
        "players[3].id: is required",
        'players[4].screens: there is no such key; known are: "id", "label", "hours"'
      ]
    ],
    [
      "names an id that two players have",
      { players: [{ id: "hall-3" }, { id: "hall-4" }, { id: "hall-3", label: "Hall 3" }] },
      ['players[2].id: another player has the id "hall-3" too']
    ],
    [
      "limits the number of players",
      { players: Array.from({ length: 1025 }, (_, index) => ({ id: `player-${index}` })) },
      ["players: expected at most 1024 players"]
    ],
    [
      "names invalid members of alerts, and shows no secret",
      { alerts: { url: "ftp://very-secret", headers: { "a b": "x", key: "\n" }, after: "soon", to: "x" } },
      [
        'alerts.to: there is no such key; known are: "url", "headers", "after"',
        'alerts.url: expected an http or https URL, such as "https://chat.example/hooks/…", without credentials (those go into "headers")',
        'alerts.headers.a b: there is no such key; known are: names of headers, such as "Authorization"',
        "alerts.headers.key: expected a header's value: printable ASCII characters",
        'alerts.after: expected a duration such as "10 minutes" or "30 seconds", from 1 second to 24 days, got "soon"'
      ]
    ],
    [
      "refuses credentials in the address of alerts, which would not be sent",
      { alerts: { url: "https://me:very-secret@chat.example/hooks" } },
      [
        'alerts.url: expected an http or https URL, such as "https://chat.example/hooks/…", without credentials (those go into "headers")'
      ]
    ],
    ["says that alerts need an address", { alerts: {} }, ["alerts.url: is required"]],
    [
      "explains what alerts are",
      { alerts: "https://chat.example" },
      [
        'alerts: expected an object, such as { url: "https://chat.example/hooks/…" }, got "https://chat.example"'
      ]
    ],
    [
      "explains what a machine, screens and players are",
      { node: "hall", screens: "left", players: "hall-3" },
      [
        'node: expected an object, such as { id: "hall-3" }, got "hall"',
        'screens: expected an array of screens, got "left"',
        'players: expected an array of players, got "hall-3"'
      ]
    ]
  ] as const) {
    it.scoped(title, () =>
      Effect.gen(function* () {
        const message = yield* failureOf(yield* withMembers(members))
        expect(message.split("\n  ").slice(1)).toEqual(mistakes)
      }).pipe(Effect.provide(NodeContext.layer))
    )
  }

  scenario("explains what an empty default export should be", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.mjs", "export default null")
      expect(yield* failureOf(file)).toContain("expected an object, got null")
    })
  )

  scenario("reports a missing default export", (write) =>
    Effect.gen(function* () {
      const file = yield* write("vitrine.config.mjs", "export const config = {}")
      expect(yield* failureOf(file)).toContain("export default defineConfig(")
    })
  )
})
