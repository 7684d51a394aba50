/**
 * The host of attachments: an origin of its own that knows nothing but links.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { attachmentGone, authorizationNotAllowed } from "./ApiError.ts"
import type { AttachmentFolder } from "./AttachmentFolder.ts"
import type { Signer } from "./AttachmentLink.ts"
import { answered, toApp } from "./app.ts"
import type { Faults } from "./Faults.ts"
import { orFault } from "./performFault.ts"
import type { RequestCounter } from "./RequestCounter.ts"

/** The beginning of the path of every link. */
export const prefix = "/v1"

export interface AttachmentRouteDependencies {
  readonly attachments: AttachmentFolder
  readonly signer: Signer
  readonly faults: Faults
  readonly counter: RequestCounter
}

export const make = ({ attachments, counter, faults, signer }: AttachmentRouteDependencies) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => {
    const content = (file: string, id: string) =>
      Effect.gen(function* () {
        const found = yield* Effect.mapError(attachments.find(file), () => attachmentGone)
        if (found.id !== id) {
          return yield* attachmentGone
        }
        return HttpServerResponse.stream(
          fs.stream(found.path, { bytesToRead: found.size, chunkSize: 262_144 }),
          {
            contentLength: found.size,
            contentType: found.type
          }
        )
      })

    return toApp(
      HttpRouter.add(
        "GET",
        `${prefix}/:link/:signature`,
        Effect.gen(function* () {
          yield* counter.request(place)
          const request = yield* HttpServerRequest.HttpServerRequest
          if (request.headers.authorization !== undefined) {
            return yield* authorizationNotAllowed
          }
          const { link = "", signature = "" } = yield* HttpRouter.params
          const { file, id } = yield* signer.verify(link, signature, yield* Clock.currentTimeMillis)
          return yield* orFault(faults, place, content(file, id))
        }).pipe(answered)
      )
    )
  })

const place = { kind: "attachments" } as const
