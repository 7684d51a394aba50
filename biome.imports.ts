/**
 * Writes the rules of who imports whom to `biome.imports.json`: `npm run check` and `npm run format` do.
 *
 * internal ← services ← files ← shared rooms ← documents ← the other rooms ← entry files
 */
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const shared = ["status", "leases", "screens", "memory", "fanOut", "http", "httpClient"]

/** What a room imports beside the shared ones, which import only what is named here. */
const exceptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  screens: ["status", "leases"],
  http: ["fanOut"],
  comparing: ["versions", "documents"],
  contentServer: ["fleet"],
  fetching: ["versions", "comparing", "documents"],
  replica: ["versions", "fetching", "fleet"],
  "sources/folder": ["documents"],
  "sources/tables": ["documents"],
  "sources/json": ["documents"],
  "sources/function": ["documents"],
  "sources/strapi": ["documents"],
  "sources/sanity": ["documents"],
  "sources/directus": ["documents"],
  plain: ["sources/tables", "documents", "httpTransport"],
  control: ["httpTransport"],
  controller: ["alerts"],
  types: ["documents"],
  cli: ["controller", "control", "alerts", "types"]
}

const layers = join(import.meta.dirname, "src/layers")

const foldersOf = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

const rooms = foldersOf(layers).flatMap((room) =>
  room === "sources" ? foldersOf(join(layers, room)).map((kind) => `${room}/${kind}`) : [room]
)

const rule = (
  includes: string,
  ...patterns: ReadonlyArray<{ group: ReadonlyArray<string>; message: string }>
) => ({
  includes: [includes],
  linter: { rules: { style: { noRestrictedImports: { level: "error", options: { patterns } } } } }
})

/** The rules for files that are `depth` folders below `layers`, in a room or in a folder of it. */
const ruleOf = (room: string, includes: string, depth: number) => {
  const others = exceptions[room] ?? []
  const allowed = shared.includes(room) ? others : [...shared, ...others]
  const toLayers = "../".repeat(depth)
  const siblings = room.includes("/") ? [`${"../".repeat(depth - 1)}*/**`, `!${toLayers}**`] : []
  return rule(
    `src/layers/${includes}`,
    {
      group: [
        ...siblings,
        `${toLayers}*/**`,
        `!${toLayers}../**`,
        ...allowed.flatMap((other) => [
          `!${toLayers}${other}/**`,
          ...(other.startsWith("sources/")
            ? [`!${other.replace("sources/", "../".repeat(depth - 1))}/**`]
            : [])
        ])
      ],
      message: `${room} imports no room but ${allowed.join(", ") || "itself"}.`
    },
    { group: [`${toLayers}../*.ts`], message: "Entry files assemble; nothing imports them." }
  )
}

const overrides = [
  { includes: ["src/**"], plugins: ["./biome.namespaces.grit", "./biome.races.grit"] },
  rule("src/internal/**", { group: ["../**"], message: "What is internal stands alone." }),
  rule("src/services/**", {
    group: ["../layers/**", "../files/**", "../*.ts"],
    message: "A contract knows no implementation."
  }),
  rule("src/files/**", {
    group: ["../layers/**", "../*.ts"],
    message: "What works on disks knows contracts, and no room."
  }),
  ...rooms.flatMap((room) => {
    const depth = room.split("/").length
    return [
      ruleOf(room, `${room}/*`, depth),
      ...(foldersOf(join(layers, room)).length === 0 ? [] : [ruleOf(room, `${room}/*/**`, depth + 1)])
    ]
  })
]

const rules = { $schema: "./node_modules/@biomejs/biome/configuration_schema.json", overrides }

writeFileSync(join(import.meta.dirname, "biome.imports.json"), `${JSON.stringify(rules, null, 1)}\n`)
