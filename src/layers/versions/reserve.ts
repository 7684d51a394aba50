/**
 * Room on disk for one more manifest: on a disk that is full, somebody may have to go back to another version.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { isDiskFull } from "../../internal/systemError.ts"

/** In bytes; more than a manifest of a hundred sources. */
const size = 16_384

export const makeReserve = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const isKept = yield* Ref.make(false)

  /** Takes the room, or as much of it as there is, unless that was done before. */
  const keep = Effect.gen(function* () {
    const { size: bytes } = yield* Effect.orElseSucceed(fs.stat(file), () => ({ size: 0 }))
    yield* Number(bytes) === size ? Effect.void : fs.writeFile(file, new Uint8Array(size))
    yield* Ref.set(isKept, true)
  }).pipe(Effect.ignore, Effect.unlessEffect(Ref.get(isKept)), Effect.uninterruptible)

  const giveBack = Effect.zipRight(Ref.set(isKept, false), Effect.ignore(fs.remove(file, { force: true })))

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
