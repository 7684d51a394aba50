/**
 * Whatever path is asked for: the bytes of a listed file, or an error, and never anything else.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as server from "../../support/contentServer.ts"

const { versionId } = server

const name = FastCheck.constantFrom(
  "a",
  "b c",
  "ü",
  "50%",
  "%41",
  "x;y",
  "#1",
  "q&r=?".slice(0, 3),
  "日本",
  "+"
)

/** What lies at a path of the version: a file with its own bytes, or what must never be served. */
const kind = FastCheck.constantFrom("listed", "listed", "unlisted", "link", "linked folder", "listed later")

const tree = FastCheck.uniqueArray(
  FastCheck.record({ names: FastCheck.array(name, { minLength: 1, maxLength: 3 }), kind }),
  { minLength: 1, maxLength: 8, selector: ({ names }) => names.join("/") }
).map((entries) =>
  // No file where another has a folder.
  entries.filter(
    ({ names }, index) =>
      !entries.some(
        (other, place) =>
          place !== index &&
          (other.names.join("/").startsWith(`${names.join("/")}/`) ||
            (other.kind === "linked folder" && other.names[0] === names[0]))
      )
  )
)

/** One of many ways to write a name in a target. */
const writing = FastCheck.constantFrom<(name: string) => string>(
  encodeURIComponent,
  encodeURIComponent,
  (name) => encodeURIComponent(name).toLowerCase(),
  (name) => Buffer.from(name).reduce((text, byte) => `${text}%${byte.toString(16).padStart(2, "0")}`, ""),
  (name) => encodeURIComponent(encodeURIComponent(name)),
  (name) => name.toUpperCase(),
  (name) => `${encodeURIComponent(name)}.`,
  (name) => `${encodeURIComponent(name)}%20`,
  (name) => `${encodeURIComponent(name)}%00`,
  (name) => `${encodeURIComponent(name)}::$DATA`
)

const separator = FastCheck.constantFrom(
  ...["/", "/", "/", "/", "/", "/", "//", "%2f", "%2F", "\\", "%5c", "/./", "/../", "/%2e%2e/", "/..%2f"]
)

const hostile = FastCheck.constantFrom(
  "/../../secret",
  "/..%2f..%2fsecret",
  "/versions/../secret",
  `/versions/${versionId}/../../secret`,
  `/versions/${versionId}/exhibits/../../../secret`,
  `/versions/${versionId}/exhibits/`,
  `/versions/${versionId}/exhibits`,
  `/versions/${versionId}/`,
  `/versions/${versionId}`,
  "/versions/",
  "/versions",
  "/versions/link/exhibits/a",
  "/versions/20261121T093001Z/files.json",
  "/secret",
  "/acks/screen-1.json",
  "/.staging/x",
  "/manifest.json/",
  "//manifest.json",
  "/MANIFEST.JSON",
  "/%",
  "/%c0%ae%c0%ae/secret",
  "/NUL",
  `/versions/${versionId}/exhibits/CON`
)

/** A path of the tree, by its index, in some writing. */
const ofTree = FastCheck.record({
  index: FastCheck.nat(7),
  writings: FastCheck.array(writing, { minLength: 3, maxLength: 3 }),
  separators: FastCheck.array(separator, { minLength: 3, maxLength: 3 })
})

const secret = "secret of somebody else"

it.scoped.prop(
  "every path returns exactly the bytes of a listed file, or an error",
  [tree, FastCheck.array(FastCheck.oneof(ofTree, hostile), { minLength: 1, maxLength: 25 })],
  ([entries, targets]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* server.makeFolder
      const downloads = `${folder}/downloads`
      const outside = `${folder}/outside`
      yield* server.writeFile(`${downloads}/secret`, secret)
      yield* server.writeFile(`${downloads}/acks/screen-1.json`, secret)
      yield* server.writeFile(`${downloads}/.staging/x`, secret)
      const pathOf = ({ names }: { readonly names: ReadonlyArray<string> }) => names.join("/")
      const contentOf = (path: string) => `bytes of ${path}`

      const isListed = (kind: string) => kind !== "unlisted"
      const listed = Object.fromEntries(
        entries.filter(({ kind }) => isListed(kind)).map((entry) => [pathOf(entry), contentOf(pathOf(entry))])
      )
      // Links lead to a file of the same size and bytes: what is wrong is the way alone.
      for (const entry of entries) {
        const path = pathOf(entry)
        const place = `${downloads}/versions/${versionId}/exhibits/${path}`
        yield* server.writeFile(`${outside}/${path}`, contentOf(path))
        yield* fs.makeDirectory(place.slice(0, place.lastIndexOf("/")), { recursive: true })
        if (entry.kind === "link") {
          yield* fs.symlink(`${outside}/${path}`, place)
        } else if (entry.kind === "linked folder" && entry.names.length > 1) {
          const [first = ""] = entry.names
          yield* fs.remove(`${downloads}/versions/${versionId}/exhibits/${first}`, { recursive: true })
          yield* fs.symlink(`${outside}/${first}`, `${downloads}/versions/${versionId}/exhibits/${first}`)
        } else if (entry.kind !== "listed later") {
          yield* fs.writeFileString(place, contentOf(path))
        }
      }
      yield* server.writeFile(
        `${downloads}/versions/${versionId}/files.json`,
        JSON.stringify(server.fileListOf(listed))
      )
      yield* fs.symlink(`${downloads}/versions/${versionId}`, `${downloads}/versions/20261121T093001Z`)

      const served = new Map(
        entries
          .filter(({ kind, names }) => kind === "listed" || (kind === "linked folder" && names.length === 1))
          .map((entry) => [`/versions/${versionId}/exhibits/${pathOf(entry)}`, contentOf(pathOf(entry))])
      )

      yield* Effect.forEach(
        targets,
        (target) =>
          Effect.gen(function* () {
            const raw =
              typeof target === "string"
                ? target
                : (entries[target.index % entries.length]?.names ?? []).reduce(
                    (path, name, index) =>
                      path + (target.separators[index] ?? "/") + (target.writings[index] ?? String)(name),
                    `/versions/${versionId}/exhibits`
                  )
            const text = raw.replace(/[^\x21-\x7e]/g, encodeURIComponent)
            const [path = ""] = text.split(/[?#]/)
            const meant = /%2f/i.test(path) ? undefined : served.get(decoded(path))
            const answer = yield* server.get(text)
            if (meant === undefined) {
              expect([400, 404], text).toContain(answer.status)
              expect(answer.body.toString()).not.toContain(secret)
              expect(answer.body.toString()).not.toContain("bytes of")
            } else {
              expect([answer.status, answer.body.toString()], text).toEqual([200, meant])
            }
          }),
        { discard: true }
      ).pipe(Effect.provide(server.layer({ downloadPath: downloads })))
    }).pipe(Effect.provide(server.environment)),
  { fastCheck: { numRuns: 20 } }
)

/** By a second decoder. */
const decoded = (path: string): string => {
  try {
    return path.split("/").map(decodeURIComponent).join("/")
  } catch {
    return "nothing"
  }
}
