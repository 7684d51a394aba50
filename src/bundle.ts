/**
 * The command line, in whose place the build puts a bundle of it, which starts several times faster than its hundreds
 * of modules; and what the plugin for Vite uses of it.
 */
export { run } from "./commandLine.ts"
export { followRejections } from "./layers/control/followRejections.ts"
