/**
 * A Strapi of its own, with its database and files in a temporary folder.
 */
import { type ChildProcess, fork } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import sharp from "sharp"
import { freePort } from "../../support/freePort.ts"

const localized = { pluginOptions: { i18n: { localized: true } } }

const schema = (
  kind: string,
  name: string,
  draftAndPublish: boolean,
  attributes: object,
  more: object = {}
) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: JSON.stringify({
    kind,
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish },
    ...more,
    attributes
  }),
  ...Object.fromEntries(
    [
      ["controllers", "Controller"],
      ["services", "Service"],
      ["routes", "Router"]
    ].map(([folder, part]) => [
      `src/api/${name}/${folder}/${name}.js`,
      `module.exports = require("@strapi/strapi").factories.createCore${part}("api::${name}.${name}")`
    ])
  )
})

const component = (path: string, attributes: object) => ({
  [`src/components/${path}.json`]: JSON.stringify({
    collectionName: `components_${path.replace("/", "_")}s`,
    info: { displayName: path },
    options: {},
    attributes
  })
})

const middlewares = [
  "logger",
  "errors",
  "security",
  "cors",
  "poweredBy",
  "query",
  "body",
  "session",
  "favicon",
  "public"
]

const files: Readonly<Record<string, string>> = {
  "config/server.js":
    'module.exports = { host: "127.0.0.1", port: Number(process.env.PORT), app: { keys: ["a", "b"] } }',
  "config/admin.js": `module.exports = { serveAdminPanel: false, auth: { secret: "s" }, apiToken: { salt: "s" },
    transfer: { token: { salt: "s" } }, secrets: { encryptionKey: "0123456789abcdef0123456789abcdef" } }`,
  "config/api.js":
    "module.exports = { rest: { defaultLimit: 25, maxLimit: 50, withCount: true, strictParams: true } }",
  "config/logger.js": 'module.exports = { level: "error" }',
  "config/database.js": `module.exports = { connection: { client: "sqlite", connection: { filename: process.env.DB },
    useNullAsDefault: true } }`,
  "config/middlewares.js": `module.exports = ${JSON.stringify(middlewares.map((name) => `strapi::${name}`))}`,
  "src/index.js": "module.exports = {}",
  ...schema(
    "collectionType",
    "object",
    true,
    {
      title: { type: "string", ...localized },
      number: { type: "integer" },
      text: { type: "blocks" },
      cover: { type: "media", multiple: false },
      room: { type: "relation", relation: "manyToOne", target: "api::room.room", inversedBy: "objects" },
      size: { type: "component", component: "shared.size" },
      body: { type: "dynamiczone", components: ["shared.size", "block.picture"] }
    },
    localized
  ),
  ...schema("collectionType", "room", true, {
    name: { type: "string" },
    objects: { type: "relation", relation: "oneToMany", target: "api::object.object", mappedBy: "room" }
  }),
  ...schema("singleType", "setting", true, { welcome: { type: "string", ...localized } }, localized),
  ...component("shared/size", { unit: { type: "string" }, value: { type: "decimal" } }),
  ...component("block/picture", {
    caption: { type: "string" },
    file: { type: "media", multiple: false }
  }),
  "files/leaflet.txt": "About bells\n"
}

const picture = (background: string) =>
  Effect.promise(() =>
    sharp({ create: { width: 320, height: 200, channels: 3, background } })
      .jpeg()
      .toBuffer()
  )

const Answer = Schema.Union(
  Schema.Struct({ result: Schema.Unknown }),
  Schema.Struct({ error: Schema.String })
)

/** The tokens that the first start creates. */
const Tokens = Schema.Struct({ reading: Schema.String, roomsOnly: Schema.String })

const decodeAnswer = Schema.decodeUnknownSync(Answer)
const decodeTokens = Schema.decodeUnknownSync(Tokens)

/** What the process answers next. */
const answerOf = (child: ChildProcess) =>
  Effect.async<unknown>((resume) => {
    const ends = (code: number | null) => resume(Effect.dieMessage(`Strapi has ended: ${code}`))
    child.once("exit", ends)
    child.once("message", (message) => {
      child.off("exit", ends)
      const answer = decodeAnswer(message)
      resume("error" in answer ? Effect.dieMessage(answer.error) : Effect.succeed(answer.result))
    })
  })

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resume(Effect.void)
      return
    }
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/**
 * Starts the Strapi that is installed in this folder, with 120 objects in English, two of them in German, a draft, a room and a
 * single type. It gives at most 50 entries at once, and refuses parameters that it does not know.
 */
export const startStrapi = (installed: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const pictures = {
      "files/bell.jpg": yield* picture("#804020"),
      "files/other.jpg": yield* picture("#208040")
    }
    for (const [name, content] of Object.entries({ ...files, ...pictures })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    for (const name of ["public/uploads", "database/migrations"]) {
      mkdirSync(join(folder, name), { recursive: true })
    }
    yield* fs.copyFile(join(installed, "package.json"), join(folder, "package.json"))
    yield* fs.symlink(join(installed, "node_modules"), join(folder, "node_modules"))

    const port = yield* freePort
    const start = Effect.sync(() =>
      fork(join(import.meta.dirname, "start.cjs"), [], {
        cwd: folder,
        env: {
          ...process.env,
          PORT: String(port),
          DB: join(folder, "data.db"),
          STRAPI_TELEMETRY_DISABLED: "true",
          NODE_ENV: "production"
        },
        execArgv: [],
        stdio: ["ignore", "ignore", "inherit", "ipc"]
      })
    )
    const running = yield* Effect.acquireRelease(Effect.flatMap(start, Ref.make), (running) =>
      Effect.flatMap(Ref.get(running), (child) => end(child, "SIGKILL"))
    )
    const tokens = decodeTokens(yield* Effect.flatMap(Ref.get(running), answerOf))

    const send = (message: object) =>
      Effect.flatMap(Ref.get(running), (child) =>
        Effect.zipRight(
          Effect.sync(() => child.send(message)),
          answerOf(child),
          { concurrent: true }
        )
      )

    return {
      url: `http://127.0.0.1:${port}`,
      tokens,
      /** Calls a method of the documents of a type, as in `strapi.documents(uid)`. */
      documents: (uid: string, method: string, parameters: object) => send({ uid, method, parameters }),
      /** Puts another picture in the place of a file, under the same URL. */
      replaceFile: (name: string, file: string) => send({ parameters: { name, file } }),
      /** Without warning, as when it crashes. */
      kill: Effect.flatMap(Ref.get(running), (child) => end(child, "SIGKILL")),
      startAgain: Effect.flatMap(start, (child) => Effect.zipRight(Ref.set(running, child), answerOf(child)))
    }
  })
