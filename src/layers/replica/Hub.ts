/**
 * One address with the versions of another controller: its manifest and its files.
 *
 * Owns the requests and the meaning of their responses. Its caller decides what happens to a version.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret, issueText, placedIssues } from "../../internal/Options.ts"
import { CopyFailed } from "../../services/Content.ts"
import { Manifest } from "../../services/VersionStore.ts"
import { goneStatuses } from "../httpClient/Body.ts"
import * as Download from "../httpClient/Download.ts"
import { naming } from "../httpClient/localAddress.ts"
import * as Requests from "../httpClient/Requests.ts"
import { pathOf } from "../versions/VersionFolders.ts"

/** The address of a copy of a downloads folder. */
export interface Address {
  /** With a slash at the end and without credentials; safe to display. */
  readonly url: string
  /** The value of the header `Authorization`, if the address has credentials. */
  readonly authorization: Redacted.Redacted | undefined
}

/** `None` if the text is not an address. */
const addressOf = Option.liftThrowable((text: string): Address => {
  const { origin, password, pathname, protocol, username } = new URL(text)
  if (/[\s?#]/.test(text) || !/^https?:$/.test(protocol)) throw new Error("This is no address of a hub.")
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    url: `${origin}${pathname.replace(/(?<!\/)\/*$/, "/")}`,
    authorization:
      credentials === ":" ? undefined : Redacted.make(`Basic ${Buffer.from(credentials).toString("base64")}`)
  }
})

/** The address of a hub, from its text. A wrong value is not displayed: it may have a password. */
export const Address = Schema.transform(
  expectsSecret(
    Schema.String.pipe(Schema.filter((text) => Option.isSome(addressOf(text)))),
    'the address of a hub: an http or https URL without query or fragment, such as "http://hub:8730"'
  ),
  Schema.declare((input): input is Address => Predicate.hasProperty(input, "url")),
  { strict: true, decode: (from) => Option.getOrThrow(addressOf(from)), encode: ({ url }) => url }
)

/** The hub has no such file, or its manifest names another version than the version that is being copied. */
export class MovedOn extends Schema.TaggedError<MovedOn>()("vitrine/MovedOn", { error: CopyFailed }) {}

export type Hub = Effect.Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* ({ authorization, url }: Address, maxTimeout: number) {
  const limits = { maxTimeout, maxBytesOption: "", urls: [url] }
  const manifests = yield* Requests.make({ ...limits, isWhole: true, maxBytes: maxManifestBytes })
  const lists = yield* Requests.make({ ...limits, maxBytes: maxListBytes })
  const { download } = yield* Download.make({ maxTimeout })
  const headers = authorization === undefined ? {} : { authorization: Redacted.value(authorization) }
  const failed = (detail: string, more: { readonly isTransient: boolean; readonly cause?: Error }) =>
    new CopyFailed({ from: url, detail, ...more })
  const notReached = (detail: string) => failed(detail, { isTransient: true })

  const ask: Effect.Effect<Option.Option<HubVersion>, CopyFailed> = manifests
    .attempt({ url: `${url}manifest.json`, headers, remembers: true })
    .pipe(
      Effect.flatMap(({ text }) =>
        Effect.mapBoth(decodeManifest(text), { onFailure: notReached, onSuccess: Option.some })
      ),
      Effect.catchAll((error) => {
        if (error instanceof CopyFailed) return error
        if (error.status === 404) return Effect.succeedNone
        return error.status === undefined
          ? notReached(error.isTransient ? `${error.detail}. ${checkAddress}` : error.detail)
          : notReached(refusal(error.status))
      })
    )

  const addressOf = (file: string) => `${url}${file.split("/").map(encodeURIComponent).join("/")}`

  const notGot = (file: string) =>
    Effect.mapError((cause: Download.DownloadFailed | Requests.RequestFailed) => {
      const isGone =
        cause instanceof Requests.RequestFailed ? goneStatuses.has(cause.status ?? 0) : cause.isExpired
      const error = failed(`${file}: ${cause.detail}`, { isTransient: cause.isTransient || isGone, cause })
      return isGone ? new MovedOn({ error }) : error
    })

  return {
    /** The address without credentials; safe to display. */
    url,

    /** Asks for the manifest; `None` if there is no manifest yet. An unchanged manifest costs one small request. */
    ask,

    /**
     * Fetches a list of files of the hub, by its path with forward slashes. The limit is 64 MiB, or about 400,000 files.
     * The list is in memory; an interrupted request starts again from the beginning.
     */
    fetchList: (file: string) =>
      lists.ask({ url: addressOf(file), headers }).pipe(
        Effect.map(({ text }) => text),
        notGot(file),
        Effect.annotateLogs("file", file)
      ),

    /** Downloads a file of the hub, by its path with forward slashes. If it fails, the received part is kept. */
    download: (file: string, target: Pick<Download.Target, "file" | "isNew" | "onBytes" | "size">) =>
      download({ ...target, url: addressOf(file), headers, name: file, resumes: true, isDurable: true }).pipe(
        naming(url),
        notGot(file)
      ),

    /** Makes an error about a response of the hub. */
    failed
  }
})

const maxListBytes = 64 * 1024 * 1024

const checkAddress = 'Check that the hub runs, the network, and the address in "from"'

const refusal = (status: number): string =>
  `it responds with HTTP ${status} to manifest.json${
    status === 401 || status === 403
      ? ': it requires credentials. Check those in "from" (http://user:password@host)'
      : ""
  }`

/** The newest version of a hub. */
export interface HubVersion {
  readonly manifest: Manifest
  /** The digest of the list of files. */
  readonly filesSha256: string
}

/** The largest manifest, in bytes. A usual one has a few hundred. */
export const maxManifestBytes = 1024 * 1024

/** Whether the manifest names this version. */
export const isOf = (manifest: Manifest, version: HubVersion): boolean =>
  manifest.versionId === version.manifest.versionId && manifest.filesSha256 === version.filesSha256

/** Whether this version is the latest one of the manifest. */
export const isLatestOf = (manifest: Manifest, version: HubVersion): boolean =>
  manifest.held?.waiting === undefined
    ? isOf(manifest, version)
    : manifest.held.waiting === version.manifest.versionId

/** The path of the version at its hub. */
export const folderOf = ({ manifest }: HubVersion): string => pathOf(manifest.versionId)

/** Fails if the text is no manifest, and says why. */
export const decodeManifest = Effect.fnUntraced(function* (
  text: string
): Effect.fn.Return<HubVersion, string> {
  const json = Option.getOrUndefined(parse(text))
  if (!Predicate.isRecord(json)) {
    return yield* Effect.fail(
      /^\s*</.test(text)
        ? "manifest.json is a page of HTML: a proxy or a login page responds instead of the hub. Open the address in a browser on this machine"
        : 'manifest.json is no JSON object: does the address in "from" lead to a downloads folder?'
    )
  }
  if (Predicate.isNumber(json.schemaVersion) && json.schemaVersion > 1) {
    return yield* Effect.fail(
      `manifest.json has schemaVersion ${json.schemaVersion}, of a later Vitrine: update Vitrine on this machine`
    )
  }
  const manifest = yield* Effect.mapError(
    decode(json),
    (error) => `manifest.json is no manifest: ${issueText(placedIssues(error))}`
  )
  const { filesSha256 } = manifest
  return filesSha256 === undefined
    ? yield* Effect.fail(
        `version ${manifest.versionId} has no list of files ("filesSha256"), because an older Vitrine made it: update Vitrine on the hub, and fetch there`
      )
    : { manifest, filesSha256 }
})

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const decode = Schema.decodeUnknown(Manifest)
