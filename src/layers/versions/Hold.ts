/**
 * Which version the manifest names: the latest version, or a held version while a later version waits. Each step writes
 * the manifest once, and gives it.
 */

import { join } from "node:path"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { fileListName } from "../../files/FileList.ts"
import { printableLine } from "../../internal/printable.ts"
import {
  type Hold,
  type HoldRequest,
  type Manifest,
  type VersionStore,
  VersionStoreError
} from "../../services/VersionStore.ts"
import { wholeFiles } from "./fileLists.ts"
import { latestOf, ManifestFile, manifestOf, withHold } from "./ManifestFile.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** Makes a version on disk the latest one: it becomes the active version, or waits if another version is held. */
export const writeLatest = Effect.fnUntraced(function* (latest: Manifest) {
  const { restored, write } = yield* ManifestFile
  const before = yield* restored
  const hold = Option.flatten(yield* Effect.transposeMapOption(before, holdOf))
  return yield* write(
    Option.match(Option.all([before, hold]), {
      onNone: () => latest,
      onSome: ([before, hold]) => withHold(before, hold, latest.versionId)
    })
  )
})

export const activate = (versionId: string) => Effect.flatMap(wholeVersion(versionId), writeLatest)

export const hold = Effect.fnUntraced(function* ({ by, until, versionId }: HoldRequest) {
  const { restored, write } = yield* ManifestFile
  const before = yield* restored
  const isActive = Option.exists(before, (manifest) => manifest.versionId === versionId)
  const next = yield* versionId === undefined || isActive
    ? readActive("hold the version of")
    : wholeVersion(versionId)
  const asked = { ...named(by), until }
  if (next.held !== undefined && next.held.byRule === undefined) {
    return until === undefined || until === next.held.until
      ? next
      : yield* write({ ...next, held: { ...next.held, ...asked } })
  }
  const latest = Option.match(before, { onNone: () => next.versionId, onSome: latestOf })
  return yield* write(withHold(next, { since: yield* now, ...asked }, latest))
})

export const release = Effect.fnUntraced(function* ({ by, versionId }: HoldRequest) {
  const { write } = yield* ManifestFile
  const before = yield* readActive("release a version of")
  const chosen = versionId ?? latestOf(before)
  if (chosen === before.versionId) {
    return before
  }
  const next = yield* wholeVersion(chosen)
  const held = before.held ?? Option.getOrUndefined(yield* holdOf(before))
  if (held === undefined) {
    return yield* refused(
      "release a version of",
      'no version is held. Go back to an older one with "rollback".'
    )
  }
  const { lost, ...hold } = held
  const released = { at: yield* now, ...named(by) }
  return yield* write(withHold({ ...next, released }, hold, latestOf(before)))
})

type Resume = Parameters<VersionStore["Type"]["resume"]>[0]

export const resume = Effect.fnUntraced(function* ({ by, dueAt }: Resume) {
  const { write } = yield* ManifestFile
  const { held, ...active } = yield* readActive("resume the versions of")
  if (held === undefined) {
    return active
  }
  if (dueAt !== undefined && !(held.until !== undefined && Date.parse(held.until) <= dueAt)) {
    return { ...active, held }
  }
  if (held.waiting === undefined) {
    return yield* write(active)
  }
  const next = yield* wholeVersion(held.waiting)
  const released = { at: yield* now, ...(dueAt === undefined ? named(by) : { until: held.until }) }
  return yield* write({ ...next, released })
})

/** The active version; fails if there is none. */
const readActive = (action: string) =>
  Effect.flatMap(ManifestFile, ({ restored }) =>
    Effect.catchTag(Effect.flatten(restored), "NoSuchElementException", () => noneActive(action))
  )

/** Fails. `action` completes the sentence "cannot … the active version". */
export const noneActive = (action: string) =>
  refused(action, "no version is active. Fetch the content first.")

const refused = (action: string, detail: string) =>
  Effect.flatMap(DownloadsFolder, ({ manifest: path }) => new VersionStoreError({ action, path, detail }))

/** The hold that applies: a person's hold, or else the hold by the rule of release. */
const holdOf = Effect.fnUntraced(function* ({ held }: Manifest) {
  const { isByHand } = yield* ManifestFile
  return held !== undefined && (held.byRule === undefined || isByHand)
    ? Option.some(held)
    : isByHand
      ? Option.some<Hold>({ since: yield* now, byRule: true })
      : Option.none()
})

/** The manifest of a version on disk, without a hold. Fails if the version is known to be incomplete or damaged. */
const wholeVersion = Effect.fnUntraced(function* (given: string) {
  const folder = yield* VersionFolders
  const versionId = yield* folder.find(given)
  const version = folder.ofVersion(versionId)
  const notWhole = (detail: string) => new VersionStoreError({ action: "activate", path: version, detail })
  const list = yield* Effect.catchTag(
    Effect.flatten(folder.listOf(versionId)),
    "NoSuchElementException",
    () => notWhole(`it has no valid ${fileListName}.`)
  )
  const damaged = yield* folder.damageOf(versionId)
  const isDamaged = [fileListName, ...list.files.keys()].some((file) => damaged.has(file))
  const isWhole = Effect.every(list.list.sources, ({ files, sourceId }) =>
    Effect.map(wholeFiles(join(version, sourceId), files), ({ size }) => size === Object.keys(files).length)
  )
  return isDamaged || !(yield* isWhole) ? yield* notWhole("files are missing or damaged.") : manifestOf(list)
})

/** In ISO 8601, UTC, with milliseconds. */
const now = Effect.map(DateTime.now, DateTime.formatIso)

/** The name may come from anywhere and is displayed, so it becomes one printable line. */
const named = (by = ""): Pick<Hold, "by"> => {
  const name = printableLine(by, maxName)
  return name === "" ? {} : { by: name }
}

/** The longest name, in characters. */
const maxName = 64
