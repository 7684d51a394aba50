/**
 * What is sent for a path, and with which headers.
 */
import { createHash } from "node:crypto"
import type { Stats } from "node:fs"
import type { PlatformError } from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import mime from "mime"
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

/** The page beside the content. */
export interface Page {
  /** Its build, which open pages learn with the manifest. */
  readonly build: (
    active: Option.Option<Manifest>
  ) => Effect.Effect<Option.Option<string>, PlatformError | Unreadable>
  readonly find: (asked: {
    /** What the manifest says. */
    readonly active: Option.Option<Manifest>
    /** The names between the slashes of the path, and the path as it was sent. */
    readonly names: ReadonlyArray<string>
    readonly raw: string
    /** `version` of the query: which version is looked at. */
    readonly version: string
  }) => Effect.Effect<Resource, NotFound | PlatformError | Unreadable>
}

export const notFound = (names: ReadonlyArray<string>) =>
  Effect.suspend(() => new NotFound({ message: `Not found: /${names.map(encodeURIComponent).join("/")}` }))

/** What changes: asked for at every use, and answered with 304 where it is still the same. */
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

/** A file of the page beside the versions: it may change. */
export const pageResource = (found: PlainFile): FileResource =>
  fileResource(found, Option.none(), pageHeaders(found.file))

/** The same of a page that is part of a version, with its digest as the tag. */
export const storedPageResource = ({ found, list, path, sha256 }: StoredFile): FileResource =>
  fileResource(found, Option.some(list.versionId), { ...pageHeaders(path), ETag: `"${sha256}"` })

const pageHeaders = (path: string): Headers => ({
  "Content-Type": mediaTypeOf(path),
  "Cache-Control": "no-cache"
})

/** By which an open page learns that there is another build than its own. */
export const withBuild = (manifest: TextResource, build: Option.Option<string>): TextResource =>
  Option.match(build, {
    onNone: () => manifest,
    onSome: (build) => ({ ...manifest, headers: { ...manifest.headers, "Vitrine-Build": build } })
  })

/** Whether it is a page in itself, which a browser opens. */
export const isDocument = (path: string): boolean => mediaTypeOf(path).startsWith("text/html")

/**
 * By which a page learns what it is part of: the first build that it hears of, where that is not known yet; and the version, where it
 * comes with that, so that one is not shown by the page of another.
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

/** A file of a version, which never changes. */
export const storedResource = ({ found, list, path, sha256 }: StoredFile): FileResource =>
  fileResource(found, Option.some(list.versionId), {
    "Content-Type": inertMediaTypeOf(path),
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "sandbox",
    ETag: `"${sha256}"`
  })

/** The list of a version. A strong tag is of one encoding (RFC 9110, section 8.8.3). */
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

/** Where files are found by their digests, beside the manifest: the list of a version tells clients. */
const filesPath = "versions/files"
