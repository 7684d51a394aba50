/**
 * `vitrine/client/helpers`: what most exhibits need beside `vitrine/client`. For browsers; it needs nothing but these.
 */
export { current, type Period, validAt } from "./layers/client/helpers/current.ts"
export { type IdleListeners, idle } from "./layers/client/helpers/idle.ts"
export { type InLanguage, language } from "./layers/client/helpers/language.ts"
