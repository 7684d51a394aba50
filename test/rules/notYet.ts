/**
 * The cells that do not hold yet. Each is removed with the change that makes it hold.
 */
import type { ReaderName } from "./readers.ts"

export const notYet: Readonly<Record<number, ReadonlyArray<ReaderName>>> = {
  25: ["JSON", "Strapi", "function"]
}
