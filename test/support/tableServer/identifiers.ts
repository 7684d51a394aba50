/**
 * Ids in the form the hosted API gives them: a prefix and 14 letters or digits.
 *
 * All but those of webhooks are derived from names and values, so that the same thing has the same id at every start.
 */
import { createHash, randomUUID } from "node:crypto"

export const tableId = (table: string): string => `tbl${digest(table)}`

export const viewId = (table: string, view: string): string => `viw${digest(table, view)}`

export const fieldId = (table: string, field: string): string => `fld${digest(table, field)}`

/**
 * The id of a record: by the value of its first column, and which of the records with that value it is.
 * Editing any other cell keeps it.
 */
export const recordId = (table: string, firstCell: string, occurrence: number): string =>
  `rec${digest(table, firstCell, occurrence)}`

/** The id of an attachment: another one once the file has other content. */
export const attachmentId = (file: string, content: string): string => `att${digest(file, content)}`

/** A new id each time. */
export const newWebhookId = (): string => `ach${digest(randomUUID())}`

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

const digest = (...parts: ReadonlyArray<string | number>): string => {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest()
  return Array.from(bytes.subarray(0, 14), (byte) => alphabet.charAt(byte % alphabet.length)).join("")
}
