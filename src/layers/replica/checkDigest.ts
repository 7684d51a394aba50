/**
 * Checks of digests, and the second try where one is wrong.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { CopyFailed } from "../../services/Content.ts"
import type { FileGone, Hub } from "./Hub.ts"

/** The file has another digest than is listed; `error` says so. */
export class WrongDigest extends Data.TaggedError("vitrine/WrongDigest")<{ readonly error: CopyFailed }> {}

/** Fails where the digest that was `found` is not the one that is listed. */
export const checkDigest = (
  hub: Hub,
  file: string,
  { found, listed }: { readonly found: string; readonly listed: string }
): Effect.Effect<void, WrongDigest> =>
  found === listed
    ? Effect.void
    : new WrongDigest({
        error: hub.failed(
          `${file} has the digest ${found}, but ${listed} is listed. It was changed there, or on the way. Run "vitrine verify" and then "vitrine fetch" on the hub`,
          { isTransient: false }
        )
      })

/** Runs the attempt once more where it ends with a wrong digest. */
export const twiceWhereWrong = <A>(
  attempt: Effect.Effect<A, CopyFailed | FileGone | WrongDigest>
): Effect.Effect<A, CopyFailed | FileGone> =>
  attempt.pipe(
    Effect.catchTag("vitrine/WrongDigest", () => attempt),
    Effect.catchTag("vitrine/WrongDigest", ({ error }) => error)
  )
