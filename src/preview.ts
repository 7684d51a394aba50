/**
 * `vitrine/client/preview`: `vitrine/client` for a page that can show a version before visitors see it.
 */
export type * from "./client.ts"
export { connect } from "./layers/client/preview.ts"
