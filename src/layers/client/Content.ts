/**
 * The tables of each source by their names, as `vitrine types` declares them for a project. Without that it is empty, and all tables
 * are arrays of `Row`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is declared further where it is known.
export interface Content {}
