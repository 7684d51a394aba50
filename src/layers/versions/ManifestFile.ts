/**
 * The file `manifest.json`, which names the active version. Reserves room on disk for one more manifest, so that
 * somebody can go back to another version on a full disk.
 */

import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { replaceFile } from "../../files/durable.ts"
import type { WrittenList } from "../../files/FileList.ts"
import { isDiskFull, remove } from "../../files/systemError.ts"
import { mapDiskError, readIfThere, refuseLink } from "../../files/versionStoreError.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import {
  type Hold,
  Manifest,
  type ManifestState,
  type VersionId,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { pathOf, VersionFolders } from "./VersionFolders.ts"

export class ManifestFile extends Context.Tag("vitrine/ManifestFile")<
  ManifestFile,
  {
    /** Whether new versions wait until somebody releases them. */
    readonly isByHand: boolean

    /** What the manifest says now. A manifest whose version is not on disk is invalid. */
    readonly read: Effect.Effect<ManifestState, VersionStoreError>

    /** The manifest, if its version is on disk. */
    readonly active: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /**
     * As `active`. If the held version was removed, `restore` runs first, so that its removal does not activate a later
     * version.
     */
    readonly restored: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /** The manifest, whether its version is on disk or not. */
    readonly content: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /** Replaces the file in one step, and gives the manifest. */
    readonly write: (manifest: Manifest) => Effect.Effect<Manifest, VersionStoreError>

    /**
     * If the manifest names no usable version, activates the newest complete one. If a held version is missing, holds
     * the newest complete version before it, or else the newest complete one. A failure is logged once.
     */
    readonly restore: Effect.Effect<void>

    /** Runs an effect that changes the manifest; one effect at a time. */
    readonly inTurn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

    /**
     * Runs an effect in turn that changes only the manifest. On a full disk, it runs once more with the reserved room.
     */
    readonly change: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | VersionStoreError, R>

    /** Reserves room on disk for `change`, or as much room as there is. */
    readonly keepRoom: Effect.Effect<void>
  }
>() {}

/** What a function that works on versions needs. */
export type Disk = DownloadsFolder | VersionFolders | ManifestFile | FileSystem.FileSystem

/** The services for effects that run later, without the scope and the span of the caller. */
export const disk = Effect.map(
  Effect.context<Disk>(),
  Context.pick(DownloadsFolder, VersionFolders, ManifestFile, FileSystem.FileSystem)
)

/** The manifest, if it names an existing version. */
export const activeIn = (state: ManifestState): Option.Option<Manifest> =>
  state.status === "ok" ? Option.some(state.manifest) : Option.none()

/** The latest version: the waiting one if a version is held, or else the active one. */
export const latestOf = ({ held, versionId }: Manifest): VersionId => held?.waiting ?? versionId

/** Adds a hold. By the rule, nothing is held if nothing waits. */
export const withHold = (
  { held: _, ...active }: Manifest,
  { waiting, ...hold }: Hold,
  latest: VersionId
): Manifest =>
  latest !== active.versionId
    ? { ...active, held: { ...hold, waiting: latest } }
    : hold.byRule === undefined
      ? { ...active, held: hold }
      : active

/** The manifest while the version of this list is active. */
export const manifestOf = ({
  list: { generatedAt, schemaVersion, sources, versionId },
  sha256
}: WrittenList): Manifest => ({
  schemaVersion,
  versionId,
  versionPath: pathOf(versionId),
  generatedAt,
  sources: sources.map(({ sourceId }) => ({ sourceId, path: sourceId })),
  filesSha256: sha256
})

/** If the folder can be written, the manifest is restored at once. */
export const layer = (isByHand: boolean) => Layer.effect(ManifestFile, make(isByHand))

const make = Effect.fnUntraced(function* (isByHand: boolean) {
  const folder = yield* DownloadsFolder
  const { hasSources, hasVersion, listOf, versionIds } = yield* VersionFolders
  const platform = yield* Effect.context<FileSystem.FileSystem>()
  const changing = yield* Effect.makeSemaphore(1)
  const room = yield* makeRoom(folder.reserve)
  const unrestored = makeWarnWhile((message) => message)
  const file = folder.manifest
  const text = readIfThere(yield* FileSystem.FileSystem, file)
  const content = Effect.map(text, Option.flatMap(Schema.decodeOption(ManifestJson)))

  const read = Effect.gen(function* () {
    const written = yield* text
    if (Option.isNone(written)) {
      return { status: "missing" } satisfies ManifestState
    }
    const invalid = (problem: string): ManifestState => ({
      status: "invalid",
      message: `manifest.json ${problem}`
    })
    const decoded = decodeManifest(written.value)
    if (Either.isLeft(decoded)) {
      return invalid(`is no manifest: ${issueText(placedIssues(decoded.left))}`)
    }
    const { held, sources, versionId, versionPath } = decoded.right
    if (!(yield* hasVersion(versionId))) {
      return invalid(`names a version that is not on disk: ${versionId}`)
    }
    const isRight =
      versionPath === pathOf(versionId) && sources.every(({ path, sourceId }) => path === sourceId)
    if (!isRight || !(yield* hasSources(versionId, sources))) {
      return invalid(`names folders that do not belong to version ${versionId}`)
    }
    const isThere = held?.waiting === undefined || (yield* hasVersion(held.waiting))
    const manifest = isThere ? decoded.right : withHold(decoded.right, held, versionId)
    return { status: "ok", manifest } satisfies ManifestState
  })

  const active = Effect.map(read, activeIn)

  /**
   * Keeps a copy of a manifest of a later schema: the program that wrote it may come back. Checked before each write.
   */
  const keepNewer = Effect.gen(function* () {
    const before = yield* text
    const newer = Option.flatMap(before, Schema.decodeOption(NewerManifestJson))
    if (Option.isSome(before) && Option.isSome(newer)) {
      const copy = join(folder.root, `manifest.schema-${newer.value.schemaVersion}.json`)
      yield* replaceFile(copy, before.value, { staging: folder.staging }).pipe(mapDiskError("write", copy))
      yield* Effect.logWarning(`${file} was written by a later version of Vitrine. A copy is kept as ${copy}`)
    }
  })

  const write = Effect.fnUntraced(function* (manifest: Manifest) {
    yield* keepNewer
    yield* replaceFile(file, JSON.stringify(manifest, null, 2), { staging: folder.staging }).pipe(
      mapDiskError("write", file)
    )
    return manifest
  }, Effect.provide(platform))

  const restore = Effect.gen(function* () {
    const current = yield* read
    if (current.status === "ok") {
      return
    }
    const problem = current.status === "invalid" ? current.message : `${file} is missing`
    const lost = Option.filter(yield* content, ({ held }) => held !== undefined)
    const [before, after] = Array.partition(yield* versionIds, (id) =>
      Option.exists(lost, ({ versionId }) => id > versionId)
    )
    for (const versionId of [...after, ...before].reverse()) {
      const list = yield* listOf(versionId)
      if (Option.isSome(list) && (yield* hasSources(versionId, list.value.list.sources))) {
        yield* room.lend(write(inPlaceOf(lost, manifestOf(list.value))))
        return yield* Effect.logWarning(
          `${problem}. ${Option.isSome(lost) ? "It was held. This version is held in its place" : "The newest version on disk is active again"}: ${versionId}`
        )
      }
    }
  }).pipe(
    Effect.matchEffect({
      onFailure: ({ message }) => unrestored.fails(message),
      onSuccess: () => unrestored.works
    })
  )

  const isHeld = Effect.map(
    content,
    Option.exists(({ held }) => held !== undefined)
  )

  if (yield* folder.wasClaimed) {
    yield* room.keep
    yield* restore
  }
  return ManifestFile.of({
    isByHand,
    read,
    active,
    restored: Effect.zipRight(Effect.whenEffect(restore, isHeld), active),
    content,
    write,
    restore,
    inTurn: changing.withPermits(1),
    change: (effect) => room.lend(Effect.zipRight(folder.claimed, effect)).pipe(changing.withPermits(1)),
    keepRoom: room.keep
  })
})

const ManifestJson = Schema.parseJson(Manifest)

const decodeManifest = Schema.decodeEither(ManifestJson)

const NewerManifestJson = Schema.parseJson(
  Schema.Struct({ schemaVersion: Schema.Int.pipe(Schema.greaterThan(1)) })
)

/** A manifest in place of a lost one: held if the lost one was held. */
const inPlaceOf = (lost: Option.Option<Manifest>, manifest: Manifest): Manifest =>
  Option.match(lost, {
    onNone: () => manifest,
    onSome: ({ held, versionId }) =>
      held === undefined
        ? manifest
        : withHold(manifest, { ...held, lost: versionId }, held.waiting ?? manifest.versionId)
  })

/** The reserved room, in bytes; more than a manifest of a hundred sources. */
const roomSize = 16_384

const makeRoom = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const isKept = yield* Ref.make(false)

  const keep = Effect.gen(function* () {
    yield* Effect.provideService(refuseLink(file), FileSystem.FileSystem, fs)
    const { size: bytes } = yield* Effect.orElseSucceed(fs.stat(file), () => ({ size: 0 }))
    yield* Number(bytes) === roomSize ? Effect.void : fs.writeFile(file, new Uint8Array(roomSize))
    yield* Ref.set(isKept, true)
  }).pipe(Effect.ignore, Effect.unlessEffect(Ref.get(isKept)), Effect.uninterruptible, Effect.asVoid)

  const giveBack = Effect.zipRight(
    Ref.set(isKept, false),
    Effect.ignore(Effect.provideService(remove(file), FileSystem.FileSystem, fs))
  )

  return {
    keep,
    lend: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(
        Effect.catchIf(isDiskFull, () => Effect.zipRight(giveBack, effect)),
        Effect.ensuring(keep)
      )
  }
})
