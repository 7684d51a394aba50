/**
 * The command line, in whose place the build puts a bundle of it, which starts several times faster than its hundreds
 * of modules.
 */
export { run } from "./commandLine.ts"
