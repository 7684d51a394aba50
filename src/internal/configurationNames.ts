/** What a configuration file is called, by preference. */
export const configurationNames = ["vitrine.config.ts", "vitrine.config.js", "vitrine.config.mjs"]
