/**
 * The host of attachments: a separate origin that knows nothing but links.
 *
 * Links are signed, good for a while, and never the same twice. One carries all there is to know, so that the server
 * remembers nothing of links.
 */
import { createHmac, randomBytes } from "node:crypto"
import { stat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { makeSendFile } from "../../../src/layers/http/sendFile.ts"
import {
  type ApiError,
  attachmentGone,
  authorizationNotAllowed,
  linkExpired,
  linkInvalid,
  responseOf
} from "./ApiError.ts"
import type { AttachmentFolder } from "./AttachmentFolder.ts"
import { count } from "./apiRequest.ts"
import type { Faults } from "./Faults.ts"
import { orFault } from "./node/performFault.ts"
import type { RequestCounts } from "./TableServerService.ts"

const Link = Schema.Struct({
  /** The path of the file in the folder of tables. */
  file: Schema.String,
  /** The id that the attachment had when the link was made. */
  id: Schema.String,
  /** Milliseconds since 1970. */
  expiresAt: Schema.Number
})
type Link = typeof Link.Type

const decodeLink = Schema.decodeUnknownEither(
  Schema.compose(Schema.StringFromBase64Url, Schema.parseJson(Link))
)

export const makeSigner = () => {
  const secret = randomBytes(32)
  let links = 0
  const signatureOf = (text: string) => createHmac("sha256", secret).update(text).digest("base64url")

  return {
    /** The path of a new link, without an extension. */
    sign: (link: Link) => {
      links += 1
      const text = Buffer.from(JSON.stringify({ ...link, serial: links })).toString("base64url")
      return `/v1/${text}/${signatureOf(text)}`
    },
    /** Reads a link of this signer that is still good. */
    verify: (text: string, signature: string, now: number): Either.Either<Link, ApiError> =>
      signature === signatureOf(text)
        ? decodeLink(text).pipe(
            Either.mapLeft(() => linkInvalid),
            Either.filterOrLeft(
              ({ expiresAt }) => now < expiresAt,
              () => linkExpired
            )
          )
        : Either.left(linkInvalid)
  }
}

export interface AttachmentRouteDependencies {
  readonly attachments: AttachmentFolder
  readonly signer: ReturnType<typeof makeSigner>
  readonly faults: Faults
  readonly counts: Ref.Ref<RequestCounts>
}

export const make = Effect.fnUntraced(function* ({
  attachments,
  counts,
  faults,
  signer
}: AttachmentRouteDependencies) {
  const fs = yield* FileSystem.FileSystem
  const sendFile = yield* makeSendFile

  const attachment = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      yield* count(counts, place)
      if (request.headers.authorization !== undefined) {
        return yield* authorizationNotAllowed
      }
      const { link = "", signature = "" } = yield* HttpLayerRouter.params
      const { file, id } = yield* signer.verify(link, signature, yield* Clock.currentTimeMillis)
      const found = Effect.mapError(attachments.find(file), () => attachmentGone).pipe(
        Effect.filterOrFail(
          (found) => found.id === id,
          () => attachmentGone
        )
      )
      return yield* orFault(
        faults,
        place,
        Effect.flatMap(found, ({ path, type }) =>
          Effect.flatMap(statsOf(path), (stats) =>
            sendFile(request, { file: path, stats, headers: { "Content-Type": type } })
          )
        ),
        found.pipe(
          Effect.flatMap(({ path, type }) =>
            Effect.map(fs.readFile(path), (bytes) =>
              HttpServerResponse.uint8Array(bytes, { contentType: type })
            )
          ),
          Effect.catchTags({ BadArgument: () => attachmentGone, SystemError: () => attachmentGone })
        )
      )
    },
    Effect.catchTag("vitrine/ApiError", (error) => Effect.succeed(responseOf(error)))
  )

  return [HttpLayerRouter.route("GET", "/v1/:link/:signature", attachment)]
})

const statsOf = (path: string) => Effect.tryPromise({ try: () => stat(path), catch: () => attachmentGone })

const place = { kind: "attachments" } as const
