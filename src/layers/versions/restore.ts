/**
 * The manifest written again if it is lost, or names a version that is.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { Manifest } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { withHold } from "./hold.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import { manifestOf } from "./publish.ts"

/** Gives what restores the manifest where it has to be; it never fails, and warns once. */
export const makeRestore = (folder: DownloadsFolder, manifestFile: ManifestFile) => {
  const warning = makeWarnWhile((message) => message)
  return restore(folder, manifestFile).pipe(
    Effect.matchEffect({
      onFailure: ({ message }) => warning.fails(message),
      onSuccess: () => warning.works
    })
  )
}

/**
 * Where the manifest does not say which version is active, the newest one that is whole is. Where it says that a version is
 * held which is not there, the newest one before that is held in its place, or else the newest one.
 */
const restore = Effect.fnUntraced(function* (folder: DownloadsFolder, manifestFile: ManifestFile) {
  const reading = yield* manifestFile.read
  if (reading.status === "ok") {
    return
  }
  const problem = reading.status === "invalid" ? reading.message : `${folder.manifest} is missing`
  const lost = Option.filter(yield* manifestFile.content, ({ held }) => held !== undefined)
  const [before, after] = Array.partition(yield* folder.versionIds, (id) =>
    Option.exists(lost, ({ versionId }) => id > versionId)
  )
  for (const versionId of [...after, ...before].reverse()) {
    const list = yield* folder.listOf(versionId)
    if (Option.isSome(list) && (yield* folder.isWhole(versionId, list.value.list.sources))) {
      yield* manifestFile.write(inPlaceOf(lost, manifestOf(list.value)))
      return yield* Effect.logWarning(
        `${problem}. ${Option.isSome(lost) ? "It was held; in its place, this version is" : "The newest version on disk is active again"}: ${versionId}`
      )
    }
  }
})

/** Held, if the one that is lost was. */
const inPlaceOf = (lost: Option.Option<Manifest>, manifest: Manifest): Manifest =>
  Option.match(lost, {
    onNone: () => manifest,
    onSome: ({ held, versionId }) =>
      held === undefined
        ? manifest
        : withHold(manifest, { ...held, lost: versionId }, held.waiting ?? manifest.versionId)
  })
