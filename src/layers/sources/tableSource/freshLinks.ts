/**
 * Links of attachments, which are good for a limited time: where one has expired, its record is read again.
 */
import * as Effect from "effect/Effect"
import type { TableSourceClient } from "../../../services/TableSourceClient.ts"
import type { Downloaded, DownloadFailed } from "../../httpClient/Download.ts"
import * as AttachmentCells from "./AttachmentCells.ts"
import { type AttachmentNotSaved, type FoundAttachment, notSaved } from "./NotSaved.ts"

/** Downloads with the newest link that is known of an attachment, and once more if that has expired. */
export type WithFreshLink = (
  found: FoundAttachment,
  download: (url: string) => Effect.Effect<Downloaded, DownloadFailed>
) => Effect.Effect<Downloaded, AttachmentNotSaved>

/** For one fetch: the links of records that were read again serve all their attachments. */
export const makeFreshLinks = (tables: typeof TableSourceClient.Service): WithFreshLink => {
  const cells = AttachmentCells.make(tables.attachments)
  const links = new Map<string, string>()
  const linkOf = ({ id, url }: FoundAttachment) => links.get(id) ?? url

  const readAgain = Effect.fnUntraced(function* (found: FoundAttachment, expired: string) {
    const { id, recordId, table } = found
    const { fields } = yield* Effect.mapError(tables.readRecord({ table, recordId }), (cause) =>
      notSaved(found, {
        detail: `${expired}, and the record cannot be read again: ${cause.detail}`,
        isTransient: cause.isTransient,
        cause
      })
    )
    const attachments = cells.allIn(fields)
    for (const { id, url } of attachments) {
      links.set(id, url)
    }
    if (!attachments.some((attachment) => attachment.id === id)) {
      const detail = `${expired}, and the record no longer has it`
      return yield* notSaved(found, { detail, isTransient: false })
    }
  })

  return (found, download) =>
    Effect.suspend(() => {
      const link = linkOf(found)
      return Effect.catchAll(download(link), (first) =>
        first.isExpired
          ? // Another download from the same record may have brought a fresh link.
            Effect.when(readAgain(found, first.detail), () => linkOf(found) === link).pipe(
              Effect.zipRight(
                Effect.suspend(() => download(linkOf(found))).pipe(
                  Effect.mapError((again) =>
                    again.isExpired
                      ? notSaved(found, { ...again, detail: `${first.detail}, with a fresh link too` })
                      : notSaved(found, again)
                  )
                )
              )
            )
          : Effect.fail(notSaved(found, first))
      )
    })
}
