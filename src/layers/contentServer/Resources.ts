/**
 * Finds the resource at a path: the manifest, the files of versions, and the page.
 *
 * Looks up everything for each request: the folders may appear later, and change.
 */

import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { fileListName } from "../../files/FileList.ts"
import { packageFile } from "../../internal/packageFile.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { Manifest } from "../../services/VersionStore.ts"
import { BadRequest, type NotFound, type Unreadable } from "../http/errors.ts"
import { hostnameOf, unreadableTarget } from "../http/RequestHead.ts"
import type { ContentServerOptions } from "./ContentServerOptions.ts"
import * as PlainFiles from "./PlainFile.ts"
import {
  jsonResource,
  listResource,
  notFound,
  type Page,
  pageResource,
  type Resource,
  storedResource,
  type TextResource,
  withBuild
} from "./resource.ts"
import * as SiteBuild from "./SiteBuild.ts"
import * as SourcePage from "./SourcePage.ts"
import * as VersionFiles from "./VersionFiles.ts"

export interface Asking {
  /** The `Host` that the client has used. */
  readonly host: string | undefined
  /** `version` of the query; empty if there is none. */
  readonly version: string
}

export const make = Effect.fnUntraced(function* ({
  content,
  downloadPath,
  site
}: Pick<ContentServerOptions, "content" | "downloadPath" | "site">) {
  const { state } = yield* ControllerState
  const downloads = PlainFiles.make(downloadPath)
  const stored = yield* VersionFiles.make(downloadPath)
  const page: Page | undefined =
    site === undefined
      ? undefined
      : Predicate.isString(site)
        ? yield* SiteBuild.makePage(site, content)
        : SourcePage.make(site.source, stored)

  const manifest = yield* makeManifest(downloads)
  const active = manifest.pipe(
    Effect.map(({ active }) => active),
    Effect.catchTag("vitrine/NotFound", () => Effect.succeedNone)
  )

  const manifestWithBuild = Effect.gen(function* () {
    const { active, resource } = yield* manifest
    return page === undefined ? resource : withBuild(resource, yield* page.build(active))
  })

  const endpoint = (host: string | undefined) =>
    Effect.map(state, ({ plugins }) =>
      jsonResource(
        Buffer.from(JSON.stringify({ transport: transportFor(host, Object(plugins["http-transport"])) }))
      )
    )

  const versionFile = makeVersionFile(stored, active)

  const findNames = (
    names: ReadonlyArray<string>,
    raw: string,
    { host, version }: Asking
  ): Effect.Effect<Resource, NotFound | PlatformError | Unreadable> => {
    const [first = "", ...rest] = names
    if (first === "versions" && rest.length > 0) {
      return versionFile(rest)
    }
    if (names.length === 1 && first === "manifest.json") {
      return manifestWithBuild
    }
    if (page === undefined) {
      return notFound(names)
    }
    const [second = "", ...others] = rest
    if (first === clientFolder && isClientScript.test(second) && others.length === 0) {
      return clientScript(second)
    }
    return names.length === 1 && first === "endpoint.json"
      ? endpoint(host)
      : Effect.flatMap(active, (active) => page.find({ active, names, raw, version }))
  }

  /** The resource at the path of a request target, percent-encoded. */
  return (raw: string, asking: Asking) =>
    Effect.flatMap(namesIn(raw), (names) => findNames(names, raw, asking))
})

export type Find = Effect.Effect.Success<ReturnType<typeof make>>

/** The path at which a page finds the scripts of `vitrine/client`, made for this version of the controller. */
const clientFolder = "vitrine"
const isClientScript = /^(?:(?:client|preview|helpers)(?:\.global)?|hyphen-[a-z]+)\.js$/

const builtScripts = Effect.try(() => PlainFiles.make(packageFile("dist")))

const clientScript = Effect.fnUntraced(function* (name: string) {
  const missing = notFound([clientFolder, name])
  const scripts = yield* Effect.orElse(builtScripts, () => missing)
  return yield* Option.match(yield* scripts.find([name]), {
    onNone: () => missing,
    onSome: (found) => Effect.succeed(pageResource(found))
  })
})

/** The largest manifest that is read. Manifests of Vitrine are much smaller. */
export const maxManifestBytes = 1_048_576

interface ReadManifest {
  readonly stamp: string
  readonly resource: TextResource
  /** The parsed manifest; `None` if it is not valid. */
  readonly active: Option.Option<Manifest>
}

const decodeManifest = Schema.decodeOption(Schema.parseJson(Manifest))

/** Reads the manifest in the downloads folder. */
const makeManifest = Effect.fnUntraced(function* (downloads: ReturnType<typeof PlainFiles.make>) {
  const fs = yield* FileSystem.FileSystem
  /** The manifest that was read last: most clients ask for it again and again. */
  const known = yield* Ref.make(Option.none<ReadManifest>())

  return Effect.gen(function* () {
    const { file, stamp } = yield* Effect.filterOrFail(
      Effect.flatten(downloads.find(["manifest.json"])),
      ({ stats, type }) => type === "File" && stats.size <= maxManifestBytes
    ).pipe(Effect.catchTag("NoSuchElementException", () => VersionFiles.noManifest))
    const before = yield* Ref.get(known)
    if (Option.isSome(before) && before.value.stamp === stamp) {
      return before.value
    }
    // Reads the whole file at once, because it can be replaced at any moment.
    const body = Buffer.from(yield* fs.readFile(file))
    const read = { stamp, resource: jsonResource(body), active: decodeManifest(body.toString()) }
    yield* Ref.set(known, Option.some(read))
    return read
  })
})

/** Finds the files of versions, by their version or their digest. */
const makeVersionFile = (
  stored: VersionFiles.VersionFiles,
  active: Effect.Effect<Option.Option<Manifest>, PlatformError | Unreadable>
) => {
  /** A file has the same address in all versions, so that clients do not load it again. */
  const fileByDigest = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const [digest = "", ...path] = names
    const first = Option.map(yield* active, ({ versionId }) => versionId)
    const found = yield* stored.findInAny(first, path.join("/"), digest)
    return yield* Option.match(found, {
      onNone: () => notFound(["versions", "files", ...names]),
      onSome: (file) => Effect.succeed(storedResource(file))
    })
  })

  return Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const [versionId = "", ...path] = names
    const missing = notFound(["versions", ...names])
    if (versionId === "files") return yield* fileByDigest(path)
    if (!VersionFiles.isVersionId(versionId)) return yield* missing
    const found = yield* stored.find(versionId, path.join("/"))
    if (Option.isNone(found)) return yield* missing
    return found.value.path === fileListName ? listResource(found.value) : storedResource(found.value)
  })
}

/** The decoded names between the slashes. No name contains a slash. */
const namesIn = (path: string): Effect.Effect<ReadonlyArray<string>, BadRequest | NotFound> =>
  Effect.try({
    try: () => path.slice(1).split("/").map(decodeURIComponent),
    catch: () => new BadRequest({ message: unreadableTarget })
  }).pipe(
    Effect.filterOrElse(
      (names) => names.every((name) => !name.includes("/")),
      (names) => notFound(names)
    )
  )

/**
 * The address of the transport for a client. If the transport listens on all interfaces, it has the host name with which the
 * client reached this server: the addresses of this machine may have changed since the start.
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
