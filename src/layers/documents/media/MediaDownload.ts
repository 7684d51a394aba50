/**
 * Downloads one file to its name in a version, unless the last version has the same file.
 */

import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import mime from "mime"
import { toError } from "../../../files/fileBatch.ts"
import { explain, retryHeldOpen } from "../../../files/systemError.ts"
import { ByHand } from "../../../services/ByHand.ts"
import type { SourceFile } from "../../../services/ContentSource.ts"
import * as Download from "../../httpClient/Download.ts"
import { conditionsOf, contentLength, validatorsOf } from "../../httpClient/headers.ts"
import { LocalAddressRefused, naming } from "../../httpClient/localAddress.ts"
import { defaultMaxBytes } from "../progress.ts"
import { FileProblem, notSaved, type Reason, type WantedFile } from "./FileProblem.ts"
import { inMemory } from "./fileKinds.ts"
import { isAtHost, typeOfUrl } from "./links.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import type { IndexEntry } from "./mediaIndex.ts"
import {
  dispositionName,
  fits,
  isShownType,
  localPathOf,
  mediaFolder,
  nameOfUrl,
  typeOfResponse,
  wrongType
} from "./mediaTypes.ts"
import { isUseless, otherIn, type Promised, typeOfBytes, verdictOf, verdictOfFile } from "./verdict.ts"

/** A file of the last version. */
export interface RememberedFile extends IndexEntry, SourceFile {}

export interface Target {
  /** A key made from its identity. */
  readonly key: string
  readonly wanted: WantedFile
  /** The file in the last version. */
  readonly before: RememberedFile | undefined
  /** The folder of the source. */
  readonly directory: string
  readonly onBytes: Download.OnBytes
}

/** A file that was downloaded, or is unchanged since the last version. */
export interface FetchedFile extends SourceFile {
  readonly entry: IndexEntry
  /** Whether it is still only in the last version. */
  readonly isKept: boolean
}

/** A file of the last version. */
export const kept = ({ sha256, size, ...entry }: RememberedFile): FetchedFile => ({
  entry,
  sha256,
  size,
  isKept: true
})

export interface Options extends Partial<Pick<MediaOptions, "headers" | "hosts" | "maxBytes" | "types">> {
  /** The address of the documents. */
  readonly url?: string | undefined
  /** Headers for its origin only. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>
  /** The most bytes of an attached file, and the name of the option for this limit. Default as for other files. */
  readonly maxAttachment?: Download.Options["maxBytes"]
}

/** The options, and downloads with their limits. */
interface Client {
  readonly fileSystem: FileSystem.FileSystem
  readonly options: Options
  /** For files without a path of their own. */
  readonly links: Download.Downloads
  /** For files with a path in the version, such as attachments. */
  readonly fixedFiles: Download.Downloads
}

export const make = Effect.fnUntraced(function* (options: Options, maxTimeout: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const { maxAttachment, maxBytes = defaultMaxBytes } = options
  const most = { value: maxBytes, option: "media.maxBytes" }
  const links = yield* Download.make({ maxBytes: most, maxTimeout })
  const fixedFiles = yield* Download.make({ maxBytes: maxAttachment ?? most, maxTimeout })
  const client: Client = { fileSystem, options, links, fixedFiles }
  return {
    /** Downloads by the link, and retries with a fresh link if it has expired. */
    download: (target: Target) => download(client, target)
  }
})

const download = (client: Client, target: Target): Effect.Effect<FetchedFile, FileProblem> => {
  const { wanted } = target
  const { localPath, refresh, url: link } = wanted
  if (link === undefined) {
    const relative = { detail: "its link is relative, and the address of its document is not known" }
    return notSaved(wanted, localPath === undefined ? relative : noAddress)
  }
  return downloadFrom(client, link, target).pipe(
    Effect.catchAll((first) =>
      first instanceof Download.DownloadFailed && first.isExpired && refresh !== undefined
        ? byFreshLink(client, first, refresh(link), target)
        : Effect.fail(adviseOnHost(first, wanted, new URL(link)))
    ),
    Effect.mapError((why) => (why instanceof FileProblem ? why : notSaved(wanted, why)))
  )
}

const byFreshLink = (client: Client, first: Reason, refresh: Effect.Effect<string, Reason>, target: Target) =>
  refresh.pipe(
    Effect.mapError((why) => ({ ...why, detail: `${first.detail}, and ${why.detail}` })),
    Effect.flatMap((fresh) => downloadFrom(client, fresh, target)),
    Effect.mapError((again) =>
      again instanceof Download.DownloadFailed && again.isExpired
        ? { ...again, detail: `${first.detail}, with a fresh link too`, isExpired: false }
        : again
    )
  )

const downloadFrom = (
  client: Client,
  link: string,
  target: Target
): Effect.Effect<FetchedFile, Reason | FileProblem> => {
  if (!URL.canParse(link)) return Effect.fail(noAddress)
  const { hosts = [], url: server } = client.options
  const { isAtServer, localPath } = target.wanted
  const url = new URL(link)
  // Hosts in the configuration may be local: the host of the source, or the hosts of the option.
  const named =
    localPath === undefined ? (isAtServer || isAtHost(url, hosts) ? [link] : []) : [server ?? link]
  return naming(...named)(downloadFile(client, url, target))
}

/** A file at a temporary name, with the headers of its response, its promised type, and its first bytes. */
interface Received {
  readonly temporary: string
  headers: Download.Response["headers"]
  promised: Promised
  beginning: Uint8Array
}

/** Downloads a file to a temporary name, and then renames it. The response may determine the name. */
const downloadFile = Effect.fnUntraced(function* (client: Client, url: URL, target: Target) {
  const { fileSystem, options } = client
  const { before, directory, key, onBytes, wanted } = target
  const { localPath: fixed, size, version } = wanted
  const temporary = join(directory, fixed === undefined ? mediaFolder : dirname(fixed), `.${key}`)
  const types = fixed === undefined ? options.types : undefined
  const byName = fixed === undefined ? typeOfUrl(url) : (mime.getType(fixed) ?? undefined)
  const promised = { byName, type: undefined, types }
  const received: Received = { temporary, headers: {}, promised, beginning: new Uint8Array() }
  const mayBeEmpty = fixed !== undefined && (size ?? 0) === 0 && !isShownType(fixed)
  if (fixed !== undefined) {
    yield* Effect.mapError(fileSystem.makeDirectory(dirname(temporary), { recursive: true }), (cause) =>
      notSaved(wanted, { detail: `cannot write ${temporary}: ${explain(cause)}`, cause })
    )
  }
  const { download, downloadChanged } = fixed === undefined ? client.links : client.fixedFiles
  const request: Download.Target<Download.DownloadFailed> = {
    url: url.href,
    headers: { ...credentialsFor(url, options), ...conditionsOf(before ?? {}, yield* ByHand) },
    file: temporary,
    name: `${key} of ${url.origin}`,
    size: Option.fromNullable(size),
    onBytes,
    onResponse: (response) => {
      const type = typeOfResponse(response)
      received.headers = response.headers
      received.promised = { ...promised, type }
      return fixed === undefined ? failWith(url, wrongType(url, type, types)) : Effect.void
    },
    onBeginning: (bytes) => {
      received.beginning = bytes
      return mayBeEmpty && bytes.length === 0 ? Effect.void : failWith(url, otherIn(received.promised, bytes))
    }
  }
  if (before === undefined) return yield* place(fileSystem, url, target, received, yield* download(request))
  const changed = yield* downloadChanged({ ...request, isUnchanged: (now) => isUnchanged(now, before) })
  // Keeps the old ETag: the new one, stored without its body, would hide the change.
  return changed === undefined
    ? kept({ ...before, version: version ?? before.version })
    : yield* place(fileSystem, url, target, received, changed)
})

/** The credentials for an address. */
const credentialsFor = (
  url: URL,
  { headers = {}, hosts = [], serverHeaders = {}, url: server }: Options
) => ({
  ...(server !== undefined && URL.canParse(server) && url.origin === new URL(server).origin
    ? Record.map(serverHeaders, Redacted.value)
    : {}),
  ...(isAtHost(url, hosts)
    ? Record.mapEntries(headers, (value, name) => [name.toLowerCase(), Redacted.value(value)])
    : {})
})

/** Checks a downloaded file, and gives it its name. */
const place = Effect.fnUntraced(function* (
  fileSystem: FileSystem.FileSystem,
  url: URL,
  target: Target,
  received: Received,
  { bytes, sha256 }: Download.Downloaded
) {
  const { beginning, headers, promised, temporary } = received
  const { directory, wanted } = target
  const localPath = wanted.localPath ?? namedByResponse(url, target, received)
  const alone = { ...promised, alone: localPath }
  const flaw = yield* Effect.tryPromise({
    try: () =>
      beginning.length === bytes ? verdictOf(alone, inMemory(beginning)) : verdictOfFile(alone, temporary),
    catch: (cause) => notSaved(wanted, { detail: `it cannot be read: ${explain(toError(cause))}` })
  })
  if (flaw !== undefined && isUseless(flaw) && !wanted.isOptional) {
    yield* Effect.ignore(fileSystem.remove(temporary))
    return yield* failed(url.origin, flaw.detail)
  }
  yield* Effect.mapError(retryHeldOpen(fileSystem.rename(temporary, join(directory, localPath))), (cause) =>
    notSaved(wanted, { detail: `it cannot be written: ${explain(cause)}`, cause })
  )
  const { version } = wanted
  const entry = { path: localPath, type: promised.type, ...validatorsOf(headers), version, flaw }
  return { entry, sha256, size: bytes, isKept: false }
})

const noAddress: Reason = { detail: "its link is no http or https address" }

/**
 * The name for the file of a link: the name in the last version if it still fits, or else the name in the document,
 * the response or the link.
 */
const namedByResponse = (
  url: URL,
  { before, key, wanted }: Target,
  { beginning, headers, promised }: Received
): string => {
  const inUrl = nameOfUrl(url)
  const name = wanted.name ?? dispositionName(headers["content-disposition"]) ?? inUrl
  const kind = { names: [name, inUrl], type: promised.type, byBytes: typeOfBytes(beginning) }
  return before !== undefined && fits(before.path, kind) ? before.path : localPathOf(name, key, kind)
}

const adviseOnHost = (
  failed: Reason | FileProblem,
  { localPath }: WantedFile,
  url: URL
): Reason | FileProblem =>
  localPath === undefined && isRefused(failed.cause, url)
    ? {
        detail: `${failed.detail}. If the link may lead there, add ${url.host} to "media.hosts"`,
        cause: failed
      }
    : failed

const failWith = ({ origin }: URL, detail: string | undefined) =>
  detail === undefined ? Effect.void : failed(origin, detail)

const failed = (origin: string, detail: string) =>
  new Download.DownloadFailed({ detail: `${origin}: ${detail}`, isTransient: false, isExpired: false })

/** Whether the refused host is the host of the link itself, so that the user can allow it. */
const isRefused = (cause: unknown, { hostname }: URL): boolean =>
  cause instanceof LocalAddressRefused && !cause.isMetadata && cause.hostname === hostname

/**
 * Whether the response means that the file is unchanged: status 304, or the same tags from a server that does not
 * compare.
 */
const isUnchanged = (response: Download.Response, { etag, lastModified, size }: RememberedFile): boolean => {
  const { headers, status } = response
  return (
    status === 304 ||
    (etag !== undefined && headers.etag === etag) ||
    (lastModified !== undefined &&
      headers["last-modified"] === lastModified &&
      headers.etag === etag &&
      contentLength(headers) === size)
  )
}
