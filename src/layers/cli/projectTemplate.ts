/**
 * The files of a new project.
 */

/** Their content by their path, with forward slashes. */
export const projectTemplate: Readonly<Record<string, string>> = {
  "vitrine.config.ts": `import { content, defineConfig, httpTransport, tableServer, tableSource } from "vitrine"

export default defineConfig({
  plugins: [
    // Serves the folder "tables" as the hosted API would: for work without an account or a network. Take this and
    // "endpointUrl" below away to fetch from the hosted API.
    tableServer({ directory: "tables", port: 8730 }),

    // Fetches all sources into downloads/versions/…, and points downloads/manifest.json to the newest version.
    content({
      fetchEvery: "10 seconds", // "10 minutes" is often enough for the hosted API: mind its monthly quota
      sources: [
        tableSource({
          id: "exhibits",
          baseId: "appAbCdEfGhIjKlMn",
          apiKey: process.env.TABLE_API_KEY ?? "local", // vitrine start --env-file .env
          tables: ["Objects"],
          keyValueTables: ["Settings"],
          endpointUrl: "http://127.0.0.1:8730"
        })
      ]
    }),

    // Tells browsers and game engines about it, on http://127.0.0.1:8710.
    httpTransport({ port: 8710 })
  ]
})
`,
  "tables/Objects.csv": `inventory,title,year
VM-1931-04,The Penrice Fog Bell,1862
VM-1919-01,The Sulking Barometer,1798
`,
  "tables/Settings.csv": `key,value
title,Kept
slideSeconds,16
`,
  ".gitignore": `node_modules/
downloads/
.vitrine/
.env
`
}
