/**
 * The file `manifest.json`, which names the active version, and room on disk for one more: on a disk that is full, somebody may
 * have to go back to another version.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { remove } from "../../internal/heldOpen.ts"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { Manifest, type ManifestReading } from "../../services/VersionStore.ts"
import { type DownloadsFolder, pathOf, readIfThere } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { replaceFile } from "./durable.ts"
import { withHold } from "./hold.ts"

export interface ManifestFile extends Effect.Effect.Success<ReturnType<typeof make>> {}

export const make = Effect.fnUntraced(function* (folder: DownloadsFolder) {
  const path = yield* Path.Path
  const file = folder.manifest
  const changing = yield* Effect.makeSemaphore(1)

  const read = Effect.gen(function* () {
    const text = yield* readIfThere(file)
    if (Option.isNone(text)) {
      return { status: "missing" } satisfies ManifestReading
    }
    const invalid = (problem: string): ManifestReading => ({
      status: "invalid",
      message: `manifest.json ${problem}`
    })
    const decoded = decodeManifest(text.value)
    if (Either.isLeft(decoded)) {
      return invalid(`is no manifest: ${issueText(placedIssues(decoded.left))}`)
    }
    const { sources, versionId, versionPath } = decoded.right
    if (!(yield* folder.hasVersion(versionId))) {
      return invalid(`names a version that is not on disk: ${versionId}`)
    }
    const isRight =
      versionPath === pathOf(versionId) && sources.every(({ path, sourceId }) => path === sourceId)
    if (!isRight || !(yield* folder.isWhole(versionId, sources))) {
      return invalid(`names folders that are not those of version ${versionId}`)
    }
    const { held } = decoded.right
    const isThere = held?.waiting === undefined || (yield* folder.hasVersion(held.waiting))
    const manifest = isThere ? decoded.right : withHold(decoded.right, held, versionId)
    return { status: "ok", manifest } satisfies ManifestReading
  })

  /** A manifest of a later schema is kept beside: the program that wrote it may come back. It is read before each write. */
  const keepNewer = Effect.gen(function* () {
    const text = yield* readIfThere(file)
    const newer = Option.flatMap(text, Schema.decodeOption(NewerManifestJson))
    if (Option.isSome(text) && Option.isSome(newer)) {
      const copy = path.join(folder.root, `manifest.schema-${newer.value.schemaVersion}.json`)
      yield* replaceFile(copy, text.value, folder.staging).pipe(mapDiskError("write", copy))
      yield* Effect.logWarning(`${file} is one of a later version of Vitrine. It is kept as ${copy}`)
    }
  })

  return {
    /** Its path. */
    file,

    reserve: yield* makeReserve(folder.reserve),

    /** Runs one effect at a time, of those that change it. */
    inTurn: changing.withPermits(1),

    read,

    /** What it says, where it names a version that is on disk. */
    active: Effect.map(read, (reading) =>
      reading.status === "ok" ? Option.some(reading.manifest) : Option.none()
    ),

    /** What it says, be the version that it names there or not. */
    content: Effect.map(readIfThere(file), Option.flatMap(Schema.decodeOption(ManifestJson))),

    /** Replaces it as a whole. */
    write: (manifest: Manifest) =>
      Effect.zipRight(
        keepNewer,
        replaceFile(file, JSON.stringify(manifest, null, 2), folder.staging).pipe(mapDiskError("write", file))
      )
  }
})

const ManifestJson = Schema.parseJson(Manifest)

const decodeManifest = Schema.decodeEither(ManifestJson)

const NewerManifestJson = Schema.parseJson(
  Schema.Struct({ schemaVersion: Schema.Int.pipe(Schema.greaterThan(1)) })
)

/** In bytes; more than a manifest of a hundred sources. */
const reserveSize = 16_384

const makeReserve = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const isKept = yield* Ref.make(false)

  /** Takes the room, or as much of it as there is, unless that was done before. */
  const keep = Effect.gen(function* () {
    const { size: bytes } = yield* Effect.orElseSucceed(fs.stat(file), () => ({ size: 0 }))
    yield* Number(bytes) === reserveSize ? Effect.void : fs.writeFile(file, new Uint8Array(reserveSize))
    yield* Ref.set(isKept, true)
  }).pipe(Effect.ignore, Effect.unlessEffect(Ref.get(isKept)), Effect.uninterruptible)

  const giveBack = Effect.zipRight(Ref.set(isKept, false), Effect.ignore(remove(file)))

  return {
    keep,
    /** Runs an effect once more in that room where it fails because the disk is full. */
    lend: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(
        Effect.catchIf(isDiskFull, () => Effect.zipRight(giveBack, effect)),
        Effect.ensuring(keep)
      )
  }
})
