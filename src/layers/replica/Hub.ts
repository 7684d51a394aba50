/**
 * One address where versions of another controller are served: what its manifest says, and its files.
 *
 * It owns the requests and what their responses mean. What becomes of a version is decided by the caller.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { CopyFailed } from "../../services/Content.ts"
import type { Upstream } from "../../services/Slices.ts"
import * as Body from "../httpClient/Body.ts"
import * as Download from "../httpClient/Download.ts"
import type { DownloadPace } from "../httpClient/DownloadPace.ts"
import * as Get from "../httpClient/Get.ts"
import { Retryable, withTimeout } from "../httpClient/HttpFailure.ts"
import { naming } from "../httpClient/localAddress.ts"
import * as Text from "../httpClient/Text.ts"
import { decodeManifest, type HubVersion, maxManifestBytes } from "./HubManifest.ts"
import type { Address } from "./ReplicaOptions.ts"

export interface Hub {
  /** May be shown. */
  readonly url: string
  /** What its manifest says; `None` if there is no manifest yet. Costs little if that has not changed. */
  readonly ask: Effect.Effect<Option.Option<HubVersion>, CopyFailed>
  /**
   * Fetches a list of files of the hub, by its path with forward slashes: 64 MiB at most, which are some 400,000 files. It is
   * held in memory, and starts again if it breaks off.
   */
  readonly fetchList: (file: string) => Effect.Effect<string, CopyFailed | FileGone>
  /** Downloads a file of the hub, by its path with forward slashes. What has come of it stays when that fails. */
  readonly download: (
    file: string,
    target: Pick<Download.Target, "file" | "onBytes" | "size">
  ) => Effect.Effect<Download.Downloaded, CopyFailed | FileGone>
  /** An error of what it gave. */
  readonly failed: (
    detail: string,
    more: { readonly isTransient: boolean; readonly cause?: Error }
  ) => CopyFailed
  /** What it said last and when. */
  readonly state: Effect.Effect<Upstream>
}

/** The hub has no such file: it may have moved on. */
export class FileGone extends Data.TaggedError("vitrine/FileGone")<{ readonly error: CopyFailed }> {}

export const make = Effect.fnUntraced(function* ({ authorization, url }: Address, maxTimeout: number) {
  const get = yield* Get.make(maxTimeout)
  const download = yield* Download.make({ maxTimeout })
  const fetchText = yield* Text.make(maxTimeout)
  const headers = authorization === undefined ? {} : { authorization: Redacted.value(authorization) }
  const failed: Hub["failed"] = (detail, more) => new CopyFailed({ from: url, detail, ...more })
  const notReached = (detail: string) => failed(detail, { isTransient: true })

  /** Its newest version, and under which tag it gave that. */
  const known = yield* Ref.make(Option.none<{ readonly etag: string; readonly version: HubVersion }>())
  const said = yield* Ref.make<Upstream>({ url })
  const says = (more: Pick<Upstream, "problem" | "versionId">) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.set(said, { url, askedAt: new Date(now).toISOString(), ...more })
    )

  const readResponse = Effect.fnUntraced(function* (
    response: HttpClientResponse.HttpClientResponse,
    pace: DownloadPace,
    before: Option.Option<HubVersion>
  ) {
    if (response.status === 304 && Option.isSome(before)) {
      return before
    }
    if (response.status === 404) {
      return Option.none()
    }
    if (response.status !== 200) {
      return yield* notReached(refusal(response.status))
    }
    yield* Body.accept(response, "gzip")
    const text = yield* Body.readText(response, pace, maxManifestBytes)
    const version = yield* Effect.mapError(decodeManifest(text), notReached)
    const { etag } = response.headers
    yield* Ref.set(
      known,
      etag === undefined || Body.mayChangeUnseen(response) ? Option.none() : Option.some({ etag, version })
    )
    return Option.some(version)
  })

  const readManifest = Effect.flatMap(Ref.get(known), (before) =>
    get(
      `${url}manifest.json`,
      Option.match(before, {
        onNone: () => headers,
        onSome: ({ etag }) => ({ ...headers, "if-none-match": etag })
      }),
      (response, pace) =>
        readResponse(
          response,
          pace,
          Option.map(before, ({ version }) => version)
        )
    )
  ).pipe(
    naming(url),
    withTimeout(maxTimeout, () =>
      notReached(`its manifest.json took longer than ${maxTimeout} ms ("maxTimeout")`)
    ),
    Effect.mapError((failure) => {
      if (failure instanceof Retryable) {
        return notReached(`${failure.error.detail}. ${checkAddress}`)
      }
      return failure._tag === "vitrine/CopyFailed" ? failure : notReached(failure.detail)
    })
  )

  const addressOf = (file: string) => `${url}${file.split("/").map(encodeURIComponent).join("/")}`

  const notGot = (file: string) =>
    Effect.mapError((cause: Download.DownloadFailed) => {
      const error = failed(`${file}: ${cause.detail}`, {
        isTransient: cause.isTransient || cause.isExpired,
        cause
      })
      return cause.isExpired ? new FileGone({ error }) : error
    })

  return {
    url,
    ask: readManifest.pipe(
      Effect.tapBoth({
        onFailure: ({ detail }) => says({ problem: detail }),
        onSuccess: Option.match({
          onNone: () => says({}),
          onSome: ({ manifest: { versionId } }) => says({ versionId })
        })
      })
    ),
    fetchList: (file) =>
      fetchText({ url: addressOf(file), headers, name: file, maxBytes: maxListBytes }).pipe(
        naming(url),
        notGot(file)
      ),
    download: (file, target) =>
      download({ ...target, url: addressOf(file), headers, name: file, resumes: true }).pipe(
        naming(url),
        notGot(file)
      ),
    failed,
    state: Ref.get(said)
  } satisfies Hub
})

const maxListBytes = 64 * 1024 * 1024

const checkAddress = 'Check that the hub runs, the network, and the address in "from"'

const refusal = (status: number): string =>
  `it responds with HTTP ${status} to manifest.json${
    status === 401 || status === 403
      ? ': it wants credentials, or others than those in "from" (http://user:password@host)'
      : ""
  }`
