/**
 * What an attachment looks like in a cell of the hosted API.
 *
 * Addresses and thumbnails are signed anew for every listing, so they say nothing about the content.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { AttachmentFormat } from "../../../services/TableSourceClient.ts"

export const attachments: AttachmentFormat = {
  read: ({ filename, id, size, url }) =>
    Predicate.isString(id) && Predicate.isString(url) && Predicate.isString(filename)
      ? Option.some({ id, url, filename, size: Option.liftPredicate(size, isSize) })
      : Option.none(),
  lastingFields: new Set(["id", "filename", "size", "type", "width", "height"])
}

const isSize = (size: unknown): size is number => Number.isSafeInteger(size) && Number(size) >= 0
