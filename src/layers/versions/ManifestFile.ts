/**
 * The file `manifest.json`, which names the active version, and room on disk for one more: on a disk that is full, somebody may
 * have to go back to another version.
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
import { replaceFile } from "../../files/durable.ts"
import type { WrittenList } from "../../files/FileList.ts"
import { remove } from "../../files/heldOpen.ts"
import { isDiskFull } from "../../files/systemError.ts"
import { issueText, placedIssues } from "../../internal/parseIssues.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import {
  activeIn,
  type Hold,
  Manifest,
  type ManifestReading,
  type VersionId,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { DownloadsFolder, pathOf } from "./DownloadsFolder.ts"
import { mapDiskError, readIfThere, refuseLink } from "./diskError.ts"
import type { VersionStoreDiskOptions } from "./VersionStoreDiskOptions.ts"

export class ManifestFile extends Context.Tag("vitrine/ManifestFile")<
  ManifestFile,
  {
    /** Whether new versions wait until somebody releases them. */
    readonly release: VersionStoreDiskOptions["release"]

    /** What it says now. One that names a version that is not on disk is invalid. */
    readonly read: Effect.Effect<ManifestReading, VersionStoreError>

    /** What it says, where it names a version that is on disk. */
    readonly active: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /** The same; where the version that is held was removed, `restore` goes first: no other version is to be shown for that. */
    readonly restored: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /** What it says, be the version that it names there or not. */
    readonly content: Effect.Effect<Option.Option<Manifest>, VersionStoreError>

    /** Replaces it as a whole, and gives it. */
    readonly write: (manifest: Manifest) => Effect.Effect<Manifest, VersionStoreError>

    /**
     * Where it does not say which version is active, the newest one that is whole is. Where it says that a version is held
     * which is not there, the newest one before that is held in its place, or else the newest one. A failure is logged once.
     */
    readonly restore: Effect.Effect<void>

    /** Runs one effect at a time, of those that change it. */
    readonly inTurn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

    /** Runs an effect in turn that changes nothing else, once more in the kept room where the disk is full. */
    readonly change: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | VersionStoreError, R>

    /** Takes room on disk for `change`, or as much of it as there is. */
    readonly keepRoom: Effect.Effect<void>
  }
>() {}

/** What a function that works on versions needs. */
export type Disk = DownloadsFolder | ManifestFile | FileSystem.FileSystem

/** For effects that run later, without the scope and the span of now. */
export const disk = Effect.map(
  Effect.context<Disk>(),
  Context.pick(DownloadsFolder, ManifestFile, FileSystem.FileSystem)
)

/** The latest version: the active one, or the one that waits while that is held. */
export const latestOf = ({ held, versionId }: Manifest): VersionId => held?.waiting ?? versionId

/** By the rule, nothing is held where nothing waits. */
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

/** What the manifest says while the version of the list is the active one. */
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

/** Where the folder can be written, it is restored at once. */
export const layer = (release: VersionStoreDiskOptions["release"]) =>
  Layer.effect(ManifestFile, make(release))

const make = Effect.fnUntraced(function* (release: VersionStoreDiskOptions["release"]) {
  const folder = yield* DownloadsFolder
  const platform = yield* Effect.context<FileSystem.FileSystem>()
  const changing = yield* Effect.makeSemaphore(1)
  const room = yield* makeRoom(folder.reserve)
  const unrestored = makeWarnWhile((message) => message)
  const file = folder.manifest
  const text = Effect.provide(readIfThere(file), platform)
  const content = Effect.map(text, Option.flatMap(Schema.decodeOption(ManifestJson)))

  const read = Effect.gen(function* () {
    const written = yield* text
    if (Option.isNone(written)) {
      return { status: "missing" } satisfies ManifestReading
    }
    const invalid = (problem: string): ManifestReading => ({
      status: "invalid",
      message: `manifest.json ${problem}`
    })
    const decoded = decodeManifest(written.value)
    if (Either.isLeft(decoded)) {
      return invalid(`is no manifest: ${issueText(placedIssues(decoded.left))}`)
    }
    const { held, sources, versionId, versionPath } = decoded.right
    if (!(yield* folder.hasVersion(versionId))) {
      return invalid(`names a version that is not on disk: ${versionId}`)
    }
    const isRight =
      versionPath === pathOf(versionId) && sources.every(({ path, sourceId }) => path === sourceId)
    if (!isRight || !(yield* folder.hasSources(versionId, sources))) {
      return invalid(`names folders that are not those of version ${versionId}`)
    }
    const isThere = held?.waiting === undefined || (yield* folder.hasVersion(held.waiting))
    const manifest = isThere ? decoded.right : withHold(decoded.right, held, versionId)
    return { status: "ok", manifest } satisfies ManifestReading
  })

  const active = Effect.map(read, activeIn)

  /** A manifest of a later schema is kept beside: the program that wrote it may come back. It is read before each write. */
  const keepNewer = Effect.gen(function* () {
    const before = yield* text
    const newer = Option.flatMap(before, Schema.decodeOption(NewerManifestJson))
    if (Option.isSome(before) && Option.isSome(newer)) {
      const copy = join(folder.root, `manifest.schema-${newer.value.schemaVersion}.json`)
      yield* replaceFile(copy, before.value, { staging: folder.staging }).pipe(mapDiskError("write", copy))
      yield* Effect.logWarning(`${file} is one of a later version of Vitrine. It is kept as ${copy}`)
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
    const reading = yield* read
    if (reading.status === "ok") {
      return
    }
    const problem = reading.status === "invalid" ? reading.message : `${file} is missing`
    const lost = Option.filter(yield* content, ({ held }) => held !== undefined)
    const [before, after] = Array.partition(yield* folder.versionIds, (id) =>
      Option.exists(lost, ({ versionId }) => id > versionId)
    )
    for (const versionId of [...after, ...before].reverse()) {
      const list = yield* folder.listOf(versionId)
      if (Option.isSome(list) && (yield* folder.hasSources(versionId, list.value.list.sources))) {
        yield* write(inPlaceOf(lost, manifestOf(list.value)))
        return yield* Effect.logWarning(
          `${problem}. ${Option.isSome(lost) ? "It was held; in its place, this version is" : "The newest version on disk is active again"}: ${versionId}`
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
    release,
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

/** Held, if the one that is lost was. */
const inPlaceOf = (lost: Option.Option<Manifest>, manifest: Manifest): Manifest =>
  Option.match(lost, {
    onNone: () => manifest,
    onSome: ({ held, versionId }) =>
      held === undefined
        ? manifest
        : withHold(manifest, { ...held, lost: versionId }, held.waiting ?? manifest.versionId)
  })

/** In bytes; more than a manifest of a hundred sources. */
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
