/**
 * What there is at a path: the manifest, the files of versions, and the page.
 *
 * Everything is looked up at each request: the folders may come later, and change.
 */
import { createHash } from "node:crypto"
import type { Stats } from "node:fs"
import { createRequire } from "node:module"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import mime from "mime"
import { isPlainFileName } from "../../internal/FileName.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { fileListName } from "../../services/FileList.ts"
import { VersionId } from "../../services/VersionStore.ts"
import { hostnameOf } from "../http/access.ts"
import { BadRequest, NotFound, type Unreadable } from "../http/errors.ts"
import * as RequestTarget from "../http/RequestTarget.ts"
import type { ContentServerOptions } from "./ContentServerOptions.ts"
import * as FileLists from "./FileLists.ts"
import * as PlainFiles from "./plainFile.ts"
import type { SiteBuild } from "./siteBuild.ts"

type Headers = Readonly<Record<string, string>>

export interface TextResource {
  readonly _tag: "Text"
  readonly body: Buffer
  readonly headers: Headers & { readonly ETag: string }
}

export interface FileResource {
  readonly _tag: "File"
  /** The absolute path. */
  readonly file: string
  readonly stats: Stats
  readonly headers: Headers
  /** The version that it is part of. */
  readonly versionId: Option.Option<VersionId>
  /** The same in gzip, for clients that accept it. */
  readonly gzip: Option.Option<Effect.Effect<TextResource>>
}

export interface Redirect {
  readonly _tag: "Redirect"
  readonly location: string
}

export type Resource = TextResource | FileResource | Redirect

export interface Resources {
  /** By the path of a request target, percent-encoded, and the `Host` that the client has used. */
  readonly find: (
    path: string,
    host: string | undefined
  ) => Effect.Effect<Resource, BadRequest | NotFound | PlatformError | Unreadable>
}

/** Without a site there is no build. */
export const make = Effect.fnUntraced(function* (
  { downloadPath, site }: Pick<ContentServerOptions, "downloadPath" | "site">,
  build: Option.Option<SiteBuild>
): Effect.fn.Return<Resources, never, ControllerState | FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { state } = yield* ControllerState
  const downloads = PlainFiles.make(downloadPath, path)
  const versionsFolder = path.join(downloadPath, "versions")
  const versions = PlainFiles.make(versionsFolder, path)
  const page = site === undefined ? undefined : { site, files: PlainFiles.make(site, path) }
  const lists = yield* FileLists.make(versionsFolder, versions)

  const currentBuild = Option.match(build, {
    onNone: () => Effect.succeedNone,
    onSome: ({ current }) => current
  })

  /** As it was read last: most who ask for it ask again and again. */
  const known = yield* Ref.make(Option.none<{ readonly stamp: string; readonly resource: TextResource }>())

  const manifest = Effect.gen(function* () {
    const found = Option.filter(
      yield* downloads.find(["manifest.json"]),
      ({ stats, type }) => type === "File" && stats.size <= maxManifestBytes
    )
    if (Option.isNone(found)) {
      return yield* new NotFound({ message: noManifest })
    }
    const { file, stamp } = found.value
    const before = yield* Ref.get(known)
    if (Option.isSome(before) && before.value.stamp === stamp) {
      return before.value.resource
    }
    // Read as a whole: what its name leads to is replaced at any moment.
    const resource = jsonResource(Buffer.from(yield* fs.readFile(file)))
    yield* Ref.set(known, Option.some({ stamp, resource }))
    return resource
  })

  const endpoint = (host: string | undefined) =>
    Effect.map(state, ({ plugins }) =>
      jsonResource(
        Buffer.from(JSON.stringify({ transport: transportFor(host, Object(plugins["http-transport"])) }))
      )
    )

  const lookAt = (versionId: VersionId) =>
    Effect.catchTag(lists.of(versionId), "vitrine/NotFound", (error) =>
      Effect.flatMap(versions.isThere, (isThere) =>
        Effect.fail(isThere ? error : new NotFound({ message: noManifest }))
      )
    )

  const versionFile = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const [versionId = "", ...rest] = names
    if (!isVersionId(versionId)) {
      return yield* notFound(["versions", ...names])
    }
    const name = rest.join("/")
    const stored = (list: FileLists.VersionFiles) =>
      Effect.transposeMapOption(list.find(name), (listed) =>
        Effect.map(versions.find([versionId, ...listed.path.split("/")]), (found) => ({
          list,
          sha256: listed.sha256,
          found: Option.filter(found, ({ stats, type }) => type === "File" && stats.size === listed.size)
        }))
      )
    const known = Option.flatten(yield* Effect.transposeMapOption(yield* lists.known(versionId), stored))
    const listed = Option.exists(known, ({ found }) => Option.isSome(found))
      ? known
      : yield* Effect.flatMap(lookAt(versionId), stored)
    if (Option.isNone(listed) || rest.some(hasSlash)) {
      return yield* notFound(["versions", ...names])
    }
    const { found, list, sha256 } = listed.value
    if (Option.isNone(found)) {
      return yield* new NotFound({
        message: `${name} of version ${versionId} is damaged, or was removed a moment ago. Read the manifest again.`
      })
    }
    const headers = {
      "Content-Type": inertMediaTypeOf(names.at(-1) ?? ""),
      "Cache-Control": "public, max-age=31536000, immutable",
      "Content-Security-Policy": "sandbox",
      ETag: `"${sha256}"`
    }
    const resource: FileResource = {
      _tag: "File",
      file: found.value.file,
      stats: found.value.stats,
      versionId: Option.some(versionId),
      headers,
      gzip: Option.none()
    }
    return name === fileListName ? withGzip(resource, headers, list.gzip) : resource
  })

  const siteFile = Effect.fnUntraced(function* (
    { files, site }: NonNullable<typeof page>,
    names: ReadonlyArray<string>,
    raw: string
  ) {
    const inFolder = names.at(-1) === ""
    const below = inFolder ? names.slice(0, -1) : names
    const asked = notFound(names)
    if (!below.every(isPlainFileName)) {
      return yield* asked
    }
    const found = yield* files.find(inFolder ? [...below, "index.html"] : below)
    if (Option.isNone(found)) {
      return (yield* files.isThere)
        ? yield* asked
        : yield* new NotFound({ message: `The folder of the page is not there: ${path.basename(site)}` })
    }
    if (found.value.type === "Directory") {
      return inFolder ? yield* asked : ({ _tag: "Redirect", location: `${raw}/` } satisfies Redirect)
    }
    const resource = pageResource(found.value)
    return isDocument(resource) ? partOfBuild(resource, yield* currentBuild) : resource
  })

  const clientScript = Effect.fnUntraced(function* (name: string) {
    const missing = notFound([clientFolder, name])
    const script = yield* Effect.orElse(clientModule, () => missing)
    return yield* Option.match(yield* PlainFiles.make(path.dirname(script), path).find([name]), {
      onNone: () => missing,
      onSome: (found) => Effect.succeed(pageResource(found))
    })
  })

  const findNames = (
    names: ReadonlyArray<string>,
    raw: string,
    host: string | undefined
  ): Effect.Effect<Resource, NotFound | PlatformError | Unreadable> => {
    const [first = "", ...rest] = names
    if (first === "versions" && rest.length > 0) {
      return versionFile(rest)
    }
    if (names.length === 1 && first === "manifest.json") {
      return Effect.zipWith(manifest, currentBuild, withBuild)
    }
    if (page === undefined) {
      return notFound(names)
    }
    const [second = "", ...others] = rest
    if (first === clientFolder && clientScripts.includes(second) && others.length === 0) {
      return clientScript(second)
    }
    return names.length === 1 && first === "endpoint.json" ? endpoint(host) : siteFile(page, names, raw)
  }

  return {
    find: (raw, host) => Effect.flatMap(namesIn(raw), (names) => findNames(names, raw, host))
  }
})

/** Where a page finds the scripts of `vitrine/client`, as they are made for this version of the controller. */
const clientFolder = "vitrine"
const clientScripts = ["client", "preview", "helpers"].flatMap((name) => [`${name}.js`, `${name}.global.js`])

/** By the name of the package: where this module lies in it is another matter once it is bundled. */
const clientModule = Effect.try(() => createRequire(import.meta.url).resolve("vitrine/client"))

/** Manifests that Vitrine writes are much smaller. */
export const maxManifestBytes = 1_048_576

const noManifest = "There is no manifest yet: no version was fetched."

const isVersionId = Schema.is(VersionId)

const hasSlash = (name: string): boolean => name.includes("/")

const notFound = (names: ReadonlyArray<string>) =>
  Effect.fail(new NotFound({ message: `Not found: /${names.map(encodeURIComponent).join("/")}` }))

/** The names between the slashes. */
const namesIn = (path: string): Effect.Effect<ReadonlyArray<string>, BadRequest> =>
  Effect.try({
    try: () => path.slice(1).split("/").map(decodeURIComponent),
    catch: () => new BadRequest({ message: RequestTarget.unreadable })
  })

/**
 * Where a client finds the transport: where that listens on all interfaces, at the name or the address by which the client has found this
 * server. An address of this machine may have become another since the start.
 */
const transportFor = (
  host: string | undefined,
  { everywhere, url }: { readonly everywhere?: boolean; readonly url?: string }
): string | undefined => {
  const hostname = hostnameOf(host)
  if (everywhere !== true || url === undefined || hostname === undefined) {
    return url
  }
  const address = new URL(url)
  address.hostname = hostname
  return address.origin
}

/** What changes: asked for at every use, and answered with 304 where it is still the same. */
const jsonResource = (body: Buffer): TextResource => ({
  _tag: "Text",
  body,
  headers: {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    ETag: `"${createHash("sha256").update(body).digest("hex")}"`
  }
})

/** A file beside the versions: it may change. */
const pageResource = ({ file, stats }: PlainFiles.PlainFile): FileResource => ({
  _tag: "File",
  file,
  stats,
  versionId: Option.none(),
  headers: { "Content-Type": mediaTypeOf(file), "Cache-Control": "no-cache" },
  gzip: Option.none()
})

/** By which an open page learns that there is another build than its own. */
const withBuild = (manifest: TextResource, build: Option.Option<string>): TextResource =>
  Option.match(build, {
    onNone: () => manifest,
    onSome: (build) => ({ ...manifest, headers: { ...manifest.headers, "Vitrine-Build": build } })
  })

const isDocument = ({ headers }: FileResource): boolean =>
  headers["Content-Type"]?.startsWith("text/html") === true

/** By which a page learns what it is part of: the first that it hears of, where that is not known yet. */
const partOfBuild = (page: FileResource, build: Option.Option<string>): FileResource => ({
  ...page,
  headers: {
    ...page.headers,
    "Server-Timing": Option.match(build, {
      onNone: () => "build",
      onSome: (build) => `build;desc="${build}"`
    })
  }
})

/** What a browser may take a file for, by the extension of its name; text is UTF-8. */
const mediaTypeOf = (name: string): string => {
  const type = mime.getType(name) ?? "application/octet-stream"
  return /^text\/|javascript$/.test(type) ? `${type}; charset=utf-8` : type
}

/**
 * The type of a file that an editor has chosen, which must not run as a script: with `nosniff`, browsers run scripts of the right type
 * only. Documents with scripts in them, SVG and XML too, are also sandboxed.
 */
const inertMediaTypeOf = (name: string): string => {
  const type = mediaTypeOf(name)
  return /(java|ecma|j|live)script/.test(type) ? "text/plain; charset=utf-8" : type
}

/** A strong tag is of one encoding (RFC 9110, section 8.8.3). */
const withGzip = (
  resource: FileResource,
  headers: TextResource["headers"],
  gzip: Effect.Effect<Buffer>
): FileResource => {
  const varying = { ...headers, Vary: "Accept-Encoding" }
  return {
    ...resource,
    headers: varying,
    gzip: Option.some(
      Effect.map(gzip, (body) => ({
        _tag: "Text",
        body,
        headers: {
          ...varying,
          "Content-Encoding": "gzip",
          ETag: headers.ETag.replace(/"$/, `-gzip"`)
        }
      }))
    )
  }
}
