/** The names of a configuration file, by preference. Apart from other things of files, because Vite's plugin loads no Effect. */
export const configurationNames = ["vitrine.config.ts", "vitrine.config.js", "vitrine.config.mjs"]
