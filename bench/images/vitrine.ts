/**
 * Our sizes of pictures, as a source makes them, with the digests of downloaded files.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Images from "#dist/layers/documents/images/Images.js"
import { answer } from "../processes.ts"
import { type PeerApi, type Plan, widths } from "./protocol.ts"

const digests = new Map<string, string>()

/** A download has the digest already, so that reading a picture for the digest is not measured. */
const sha256Of = (file: string): string => {
  const sha256 = digests.get(file) ?? createHash("sha256").update(readFileSync(file)).digest("hex")
  digests.set(file, sha256)
  return sha256
}

const make = ({ directory, files }: Plan) =>
  Effect.gen(function* () {
    const { derive } = yield* Images.make({ widths, formats: ["webp"] })
    const derived = yield* Effect.forEach(
      files,
      (file, index) =>
        derive(
          { file, localPath: `media/photo${index}.jpg`, sha256: sha256Of(file) },
          { directory, previous: Option.none(), made: new Map() }
        ),
      { concurrency: 6 }
    )
    return derived.reduce((sum, { sizes }) => sum + sizes.length, 0)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.runPromise)

answer<PeerApi>({ make, ready: () => {} })
