/**
 * `vitrine/client`: connects a page to the content of a controller. For browsers; it needs no other packages.
 */
export type * from "./layers/client/Content.ts"
export { connect } from "./layers/client/connect.ts"
export type { Options } from "./layers/client/Options.ts"
export type { Media, Preload } from "./layers/client/preload.ts"
export type { Exhibit, State } from "./layers/client/state.ts"
export type { Attachment, Picture, PictureFile, ReadTable, Row, Version } from "./layers/client/Version.ts"
