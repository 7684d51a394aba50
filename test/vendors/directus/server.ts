/**
 * A Directus of its own, with its database and files in a temporary folder.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import sharp from "sharp"
import { freePort } from "../../support/freePort.ts"

/** The token of an administrator. */
const adminToken = "admin-token"

/** Static tokens of users, by what they may read. */
export const tokens = {
  content: "content-token",
  rooms: "rooms-token"
}

const picture = (width: number) =>
  Effect.promise(() =>
    sharp({ create: { width, height: 200, channels: 3, background: "#804020" } })
      .jpeg()
      .toBuffer()
  )

const numberKey = {
  field: "id",
  type: "integer",
  schema: { is_primary_key: true, has_auto_increment: true }
}

const uuidKey = { field: "id", type: "uuid", schema: { is_primary_key: true }, meta: { special: ["uuid"] } }

const textKey = (field: string) => ({ field, type: "string", schema: { is_primary_key: true } })

const field = (field: string, type = "string", special?: string) => ({
  field,
  type,
  schema: {},
  ...(special === undefined ? {} : { meta: { special: [special] } })
})

const alias = (field: string, special: string) => ({ field, type: "alias", meta: { special: [special] } })

const collections = {
  languages: [textKey("code"), field("name")],
  rooms: [numberKey, field("name")],
  objects: [
    uuidKey,
    field("status"),
    field("number", "integer"),
    field("date_updated", "timestamp", "date-updated"),
    field("cover", "uuid", "file"),
    field("room", "integer", "m2o"),
    alias("translations", "translations"),
    alias("gallery", "files")
  ],
  objects_translations: [numberKey, field("objects_id", "uuid"), field("languages_code"), field("title")],
  objects_files: [numberKey, field("objects_id", "uuid"), field("directus_files_id", "uuid")],
  setting: [numberKey, alias("translations", "translations")],
  setting_translations: [numberKey, field("setting_id", "integer"), field("languages_code"), field("welcome")]
}

const relations = [
  ["objects", "cover", "directus_files", {}],
  ["objects", "room", "rooms", {}],
  ...["objects", "setting"].flatMap(
    (name) =>
      [
        [
          `${name}_translations`,
          `${name}_id`,
          name,
          { one_field: "translations", junction_field: "languages_code" }
        ],
        [`${name}_translations`, "languages_code", "languages", { junction_field: `${name}_id` }]
      ] as const
  ),
  ["objects_files", "objects_id", "objects", { one_field: "gallery", junction_field: "directus_files_id" }],
  ["objects_files", "directus_files_id", "directus_files", { junction_field: "objects_id" }]
] as const

const objects = (file: string, room: number) =>
  Array.from({ length: 240 }, (_, index) => index + 1).map((number) => ({
    number,
    status: "published",
    ...(number > 3 ? {} : { cover: file, room, gallery: [{ directus_files_id: file }] }),
    translations: [
      { languages_code: "en-US", title: `Bell ${number}` },
      ...(number > 2 ? [] : [{ languages_code: "de-DE", title: `Glocke ${number}` }])
    ]
  }))

const Data = Schema.parseJson(Schema.Struct({ data: Schema.Unknown }))
const Id = Schema.Struct({ id: Schema.String })
const NumberedId = Schema.Struct({ id: Schema.Number })
const decodeData = Schema.decodeUnknownSync(Data)
const idOf = Schema.decodeUnknownSync(Id)
const numberedIdOf = Schema.decodeUnknownSync(NumberedId)

const kill = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  })

/**
 * Starts the Directus that is installed in this folder, with 240 objects in English, two of them in German, a draft, a room, a
 * singleton and a file.
 */
export const startDirectus = (installed: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    for (const name of ["uploads", "extensions"]) {
      mkdirSync(join(folder, name))
    }
    yield* fs.writeFileString(join(folder, "package.json"), "{}")
    const port = yield* freePort
    const url = `http://127.0.0.1:${port}`
    // Not its command, which looks for updates.
    const program = join(installed, "node_modules/@directus/api/dist/cli/run.js")
    const run = (command: string) =>
      Effect.sync(() =>
        spawn(process.execPath, [program, command], {
          cwd: folder,
          env: {
            PATH: process.env.PATH,
            HOST: "127.0.0.1",
            PORT: String(port),
            PUBLIC_URL: url,
            DB_CLIENT: "sqlite3",
            DB_FILENAME: join(folder, "data.db"),
            SECRET: "secret",
            KEY: "key",
            ADMIN_EMAIL: "admin@example.com",
            ADMIN_PASSWORD: "admin",
            ADMIN_TOKEN: adminToken,
            TELEMETRY: "false",
            // It refuses requests on a busy machine.
            PRESSURE_LIMITER_ENABLED: "false",
            STORAGE_LOCATIONS: "local",
            STORAGE_LOCAL_ROOT: join(folder, "uploads"),
            EXTENSIONS_PATH: join(folder, "extensions"),
            LOG_LEVEL: "error"
          },
          stdio: ["ignore", "ignore", "inherit"]
        })
      )
    const bootstrap = yield* Effect.acquireRelease(run("bootstrap"), kill)
    const [code] = yield* Effect.promise(() => once(bootstrap, "exit"))
    if (code !== 0) {
      return yield* Effect.dieMessage(`Directus has not made its database: ${code}`)
    }

    const answers = Effect.tryPromise(() => fetch(`${url}/server/ping`)).pipe(
      Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 600 }),
      Effect.orDie
    )
    const running = yield* Effect.acquireRelease(
      Effect.flatMap(run("start"), (child) => Ref.make(child)),
      (running) => Effect.flatMap(Ref.get(running), kill)
    )
    yield* answers

    /** As an editor, or somebody who sets it up. */
    const send = (method: string, path: string, body: object) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${adminToken}`,
            ...(body instanceof FormData ? {} : { "content-type": "application/json" })
          },
          body: body instanceof FormData ? body : JSON.stringify(body)
        })
        const text = await response.text()
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
        return text === "" ? null : decodeData(text).data
      })

    const fileForm = (fields: Readonly<Record<string, string>>, bytes: Buffer) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append("file", new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }), "bell.jpg")
      return form
    }

    for (const [collection, fields] of Object.entries(collections)) {
      const meta = { singleton: collection === "setting" }
      yield* send("POST", "/collections", { collection, schema: {}, meta, fields })
    }
    for (const [collection, field, related_collection, meta] of relations) {
      const schema = { on_delete: "SET NULL" }
      yield* send("POST", "/relations", { collection, field, related_collection, schema, meta })
    }
    yield* send("POST", "/items/languages", [
      { code: "de-DE", name: "Deutsch" },
      { code: "en-US", name: "English" }
    ])
    const bell = yield* picture(320)
    const file = idOf(
      yield* send(
        "POST",
        "/files",
        fileForm({ title: "Bell", focal_point_x: "288", focal_point_y: "100" }, bell)
      )
    ).id
    const room = numberedIdOf(yield* send("POST", "/items/rooms", { name: "Hall" })).id
    yield* send("POST", "/items/objects", objects(file, room))
    yield* send("POST", "/items/objects", {
      number: 0,
      status: "draft",
      translations: [{ languages_code: "en-US", title: "Only a draft" }]
    })
    yield* send("PATCH", "/items/setting", {
      translations: [
        { languages_code: "en-US", welcome: "Welcome" },
        { languages_code: "de-DE", welcome: "Willkommen" }
      ]
    })

    const all = [...Object.keys(collections), "directus_files"]
    const mayRead = (token: string, collections: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const permissions = collections.map((collection) => ({ collection, action: "read", fields: ["*"] }))
        const policy = yield* send("POST", "/policies", { name: token, permissions })
        const policies = [{ policy: idOf(policy).id }]
        yield* send("POST", "/users", { email: `${token}@example.com`, token, policies })
      })
    yield* mayRead(tokens.content, all)
    yield* mayRead(tokens.rooms, ["rooms"])

    return {
      url,
      file,
      room,
      send,
      /** Puts a picture of this width in the place of the file, under the same id. */
      replaceFile: (width: number) =>
        Effect.flatMap(picture(width), (bytes) => send("PATCH", `/files/${file}`, fileForm({}, bytes))),
      /** Without warning, as when it crashes. */
      kill: Effect.flatMap(Ref.get(running), kill),
      startAgain: Effect.zipRight(
        Effect.flatMap(run("start"), (child) => Ref.set(running, child)),
        answers
      )
    }
  })
