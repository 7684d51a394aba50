/**
 * The files of a new project.
 */

/** Without a page, the controller opens no port for content: programs read the folder. */
const configuration = ({ withPage }: { readonly withPage: boolean }) =>
  `import { content, ${withPage ? "contentServer, " : ""}defineConfig, httpTransport, tableServer, tableSource } from "vitrine"

// For editors; superfluous where @types/node is installed.
declare const process: { readonly env: Readonly<Record<string, string | undefined>> }

export default defineConfig({
  plugins: [
    // Serves the folder "tables" as the hosted API would: for work without an account or a network. Take this and
    // "endpointUrl" below away to fetch from the hosted API.
    tableServer({ directory: "tables", port: 8740 }),

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
          expect: { Objects: { fields: { title: "text" }, minRecords: 1 } }, // anything else is not shown
          endpointUrl: "http://127.0.0.1:8740"
        })
      ]
    }),

    // Tells browsers and game engines about it, on http://127.0.0.1:8710.
    httpTransport({ port: 8710 })${withPage ? pageServer : ""}
  ]
})
`

const pageServer = `,

    // Serves the folder "page", and the content to it, on http://127.0.0.1:8730.
    contentServer({ port: 8730, site: "page" })`

/** Their content by their path, with forward slashes. */
export const projectTemplate: Readonly<Record<string, string>> = {
  "vitrine.config.ts": configuration({ withPage: false }),
  "tables/Objects.csv": `inventory,title,year
VM-1931-04,The Penrice Fog Bell,1862
VM-1919-01,The Sulking Barometer,1798
`,
  "tables/Settings.csv": `key,value
title,Kept
slideSeconds,16
`,
  ".env.example": `# Copy this to .env, and start with: vitrine start --env-file .env
TABLE_API_KEY=
`,
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["*.ts"]
}
`,
  ".gitignore": `node_modules/
downloads/
.vitrine/
.env
`
}

/** What is different, and more, with a page that shows the content. */
export const pageTemplate: Readonly<Record<string, string>> = {
  "vitrine.config.ts": configuration({ withPage: true }),
  "page/index.html": `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <link rel="icon" href="data:," />
  <title>Exhibit</title>
  <style>
    body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1.25rem/1.5 system-ui, sans-serif }
    td { padding: 0.25rem 1.5rem 0.25rem 0 }
    footer { color: gray; font-size: 0.9rem }
  </style>
  <h1></h1>
  <table></table>
  <footer>No version yet</footer>
  <script type="module">
    import { connect } from "/vitrine/preview.js"

    connect({
      load: async (version) => ({
        settings: await version.table("exhibits", "Settings"),
        objects: await version.table("exhibits", "Objects")
      }),
      show: ({ objects, settings }, version) => {
        document.querySelector("h1").textContent = settings.title
        document.querySelector("footer").textContent = "Version " + version.id
        document.querySelector("table").replaceChildren(
          ...objects.map(({ id, ...fields }) => {
            const row = document.createElement("tr")
            for (const value of Object.values(fields)) row.insertCell().textContent = value
            return row
          })
        )
      }
    })
  </script>
</html>
`
}
