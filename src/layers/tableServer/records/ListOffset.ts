/**
 * The offset that leads from one page of a listing to the next.
 *
 * It carries all there is to know, so that the server remembers nothing of listings. To clients it is opaque;
 * it holds characters that break a client which does not encode it.
 */
import * as Either from "effect/Either"
import { type ApiError, iteratorNotAvailable } from "../ApiError.ts"

export interface ListOffset {
  /** The server process that issued it; letters and digits. */
  readonly issuer: string
  /** The table that is listed; letters and digits. */
  readonly tableId: string
  /** Milliseconds since 1970. */
  readonly issuedAt: number
  /** How many records of the listing came before. */
  readonly index: number
}

/** How long an offset is good for. */
export const offsetLifetimeMs = 5 * 60 * 1000

export const encodeOffset = ({ index, issuedAt, issuer, tableId }: ListOffset): string =>
  `itr${issuer}/${tableId}+${issuedAt.toString(36)}&${index.toString(36)}=`

/** The index where the page begins; an error where the offset is another server's or table's, or too old. */
export const decodeOffset = (
  text: string,
  now: Omit<ListOffset, "index">
): Either.Either<number, ApiError> => {
  const [, issuer, tableId, issuedAt = "", index = ""] = form.exec(text) ?? []
  const age = now.issuedAt - Number.parseInt(issuedAt, 36)
  return issuer === now.issuer && tableId === now.tableId && age <= offsetLifetimeMs
    ? Either.right(Number.parseInt(index, 36))
    : Either.left(iteratorNotAvailable)
}

const form = /^itr([a-zA-Z0-9]+)\/([a-zA-Z0-9]+)\+([a-z0-9]{1,10})&([a-z0-9]{1,10})=$/
