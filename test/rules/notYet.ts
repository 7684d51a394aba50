/**
 * The cells that do not hold yet. Each is removed with the change that makes it hold.
 */
import type { ReaderName } from "./readers.ts"

export const notYet: Readonly<Record<number, ReadonlyArray<ReaderName>>> = {
  14: ["folder", "function"],
  15: ["folder", "JSON", "tables", "Strapi", "Directus", "Sanity", "function"],
  16: ["folder", "JSON"],
  17: ["folder", "JSON", "tables", "Strapi", "Directus", "Sanity", "function"],
  22: ["folder", "JSON", "tables", "Strapi", "Directus", "Sanity", "function"],
  23: ["folder", "JSON", "tables", "Strapi", "Directus", "Sanity", "function"],
  25: ["JSON", "Strapi", "function"],
  32: ["folder", "JSON"]
}
