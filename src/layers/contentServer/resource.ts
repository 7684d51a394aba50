/**
 * The responses of the content server, with their headers.
 */
import { createHash } from "node:crypto"
import type { Stats } from "node:fs"
import type { PlatformError } from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import mime from "mime"
import { sha256OfText } from "../../files/sha256.ts"
import type { Manifest, VersionId } from "../../services/VersionStore.ts"
import { NotFound, type Unreadable } from "../http/errors.ts"
import type { PlainFile } from "./PlainFile.ts"
import type { StoredFile } from "./VersionFiles.ts"

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
  /** The version of the file. */
  readonly versionId: Option.Option<VersionId>
  /** The file in gzip, for clients that accept it. */
  readonly gzip: Option.Option<Effect.Effect<TextResource>>
}

export interface Redirect {
  readonly _tag: "Redirect"
  readonly location: string
}

export type Resource = TextResource | FileResource | Redirect

/** The page beside the content. */
export interface Page {
  /** The build of the page, which open pages get with the manifest. */
  readonly build: (
    active: Option.Option<Manifest>
  ) => Effect.Effect<Option.Option<string>, PlatformError | Unreadable>
  readonly find: (asked: {
    /** The parsed manifest. */
    readonly active: Option.Option<Manifest>
    /** The names between the slashes of the path, and the path as the client sent it. */
    readonly names: ReadonlyArray<string>
    readonly raw: string
    /** `version` of the query: the version to look at. */
    readonly version: string
  }) => Effect.Effect<Resource, NotFound | PlatformError | Unreadable>
}

export const notFound = (names: ReadonlyArray<string>) =>
  Effect.suspend(() => new NotFound({ message: `Not found: /${names.map(encodeURIComponent).join("/")}` }))

/** A resource that changes: clients ask at each use, and get 304 if it is unchanged. */
export const jsonResource = (body: Buffer): TextResource => ({
  _tag: "Text",
  body,
  headers: {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    ETag: `"${createHash("sha256").update(body).digest("hex")}"`
  }
})

const fileResource = (
  { file, stats }: PlainFile,
  versionId: Option.Option<VersionId>,
  headers: Headers
): FileResource => ({ _tag: "File", file, stats, versionId, headers, gzip: Option.none() })

/** A file of the page beside the versions: it may change, and keep its size and date. */
export const pageResource = (found: PlainFile): FileResource =>
  fileResource(found, Option.none(), {
    ...pageHeaders(found.file),
    ETag: `W/"${sha256OfText(found.stamp).slice(0, 32)}"`
  })

/** A file of a page that is part of a version, with its digest as the `ETag`. */
export const storedPageResource = ({ found, list, path, sha256 }: StoredFile): FileResource =>
  fileResource(found, Option.some(list.versionId), { ...pageHeaders(path), ETag: `"${sha256}"` })

const pageHeaders = (path: string): Headers => ({
  "Content-Type": mediaTypeOf(path),
  "Cache-Control": "no-cache"
})

/** Adds the build, so that an open page learns of a new build. */
export const withBuild = (manifest: TextResource, build: Option.Option<string>): TextResource =>
  Option.match(build, {
    onNone: () => manifest,
    onSome: (build) => ({ ...manifest, headers: { ...manifest.headers, "Vitrine-Build": build } })
  })

/** Whether a browser opens the file as a page. */
export const isDocument = (path: string): boolean => mediaTypeOf(path).startsWith("text/html")

/**
 * Adds the build of a page, empty if it is not known yet: the page then takes the first build that it receives. Adds the version
 * of a page that is part of a version, so that it does not display the content of another version.
 */
export const partOfBuild = (
  page: FileResource,
  build: Option.Option<string>,
  versionId?: VersionId
): FileResource => ({
  ...page,
  headers: {
    ...page.headers,
    "Server-Timing": `build${Option.match(build, { onNone: () => "", onSome: (build) => `;desc="${build}"` })}${
      versionId === undefined ? "" : `, version;desc="${versionId}"`
    }`
  }
})

/** The media type by the extension of the name; text is UTF-8. */
const mediaTypeOf = (name: string): string => {
  const type = mime.getType(name) ?? "application/octet-stream"
  return /^text\/|javascript$/.test(type) ? `${type}; charset=utf-8` : type
}

/**
 * The type of a file that editors provide, which must not run as a script: with `nosniff`, browsers run only scripts of the right
 * type. Documents that can contain scripts, such as SVG and XML, are also sandboxed.
 */
const inertMediaTypeOf = (name: string): string => {
  const type = mediaTypeOf(name)
  return /(java|ecma|j|live)script/.test(type) ? "text/plain; charset=utf-8" : type
}

/** A file of a version, which never changes. */
export const storedResource = ({ found, list, path, sha256 }: StoredFile): FileResource =>
  fileResource(found, Option.some(list.versionId), {
    "Content-Type": inertMediaTypeOf(path),
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "sandbox",
    ETag: `"${sha256}"`
  })

/** The list of a version. Each encoding has its own strong tag (RFC 9110, section 8.8.3). */
export const listResource = (stored: StoredFile): FileResource => {
  const resource = storedResource(stored)
  const headers = { ...resource.headers, Vary: "Accept-Encoding", "Vitrine-Files": filesPath }
  const compressed = { ...headers, "Content-Encoding": "gzip", ETag: `"${stored.sha256}-gzip"` }
  const gzip = Effect.map(
    stored.list.gzip,
    (body): TextResource => ({ _tag: "Text", body, headers: compressed })
  )
  return { ...resource, headers, gzip: Option.some(gzip) }
}

/** The path beside the manifest for files by digest; clients get it with the list of a version. */
const filesPath = "versions/files"
