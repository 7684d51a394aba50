/**
 * The tables of each source by their names, as `vitrine types` declares them for a project. Without that declaration it is
 * empty, and all tables are arrays of `Row`.
 *
 * @since 0.1.0
 * @category models
 */
// biome-ignore lint/suspicious/noEmptyInterface: the project adds its tables by declaration merging.
export interface Content {}
