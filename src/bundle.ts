/**
 * The command line, and the part of it that the plugin for Vite uses. The build replaces this file with a bundle, which
 * starts several times faster than hundreds of modules.
 */
export { run } from "./commandLine.ts"
export { followRejections } from "./layers/control/followRejections.ts"
