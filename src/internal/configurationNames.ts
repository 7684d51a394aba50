/** The names of a configuration file, by preference. */
export const configurationNames = ["vitrine.config.ts", "vitrine.config.js", "vitrine.config.mjs"]
