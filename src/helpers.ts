/**
 * `vitrine/client/helpers`: functions that most exhibits need beside `vitrine/client`. For browsers; it needs no other packages.
 */
export { current, type Period, validAt } from "./layers/client/helpers/current.ts"
export { type IdleListeners, idle } from "./layers/client/helpers/idle.ts"
export { type InLanguage, language } from "./layers/client/helpers/language.ts"
