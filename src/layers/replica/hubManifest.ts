/**
 * Decodes a hub's `manifest.json`. An error says what is wrong with it and what to do.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/parseIssues.ts"
import { Manifest } from "../../services/VersionStore.ts"
import { pathOf } from "../versions/DownloadsFolder.ts"

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
