/**
 * The files of a new project.
 */

/** Their content by their path, with forward slashes. */
export const projectTemplate: Readonly<Record<string, string>> = {
  "vitrine.config.ts": `import { content, defineConfig, httpTransport, tableServer, tableSource } from "vitrine"

// For editors; superfluous where @types/node is installed.
declare const process: { readonly env: Readonly<Record<string, string | undefined>> }

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

/** A page that shows the content, and the program that serves it. */
export const pageTemplate: Readonly<Record<string, string>> = {
  "page/index.html": `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
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
    const transport = "http://127.0.0.1:8710"
    let shown

    // Loads all of a version before anything of it is shown.
    const update = async () => {
      const load = async (path) => (await fetch("/content/" + path, { cache: "no-store" })).json()
      const { versionId, versionPath } = await load("manifest.json")
      if (versionId === shown) return
      const objects = await load(versionPath + "/exhibits/Objects.json")
      const settings = await load(versionPath + "/exhibits/Settings.json")

      document.querySelector("h1").textContent = settings.title
      document.querySelector("footer").textContent = "Version " + versionId
      document.querySelector("table").replaceChildren(
        ...objects.map(({ id, ...fields }) => {
          const row = document.createElement("tr")
          for (const value of Object.values(fields)) row.insertCell().textContent = value
          return row
        })
      )
      shown = versionId
    }

    // The manifest is the truth; the event only makes it quicker.
    const tryUpdate = () => update().catch(console.warn)
    new EventSource(transport + "/events").addEventListener("content:version:promoted", tryUpdate)
    setInterval(tryUpdate, 5000)
    tryUpdate()
  </script>
</html>
`,
  "page/serve.mjs": `// Serves this page, and the downloads folder as /content: node page/serve.mjs
import { readFile, realpath } from "node:fs/promises"
import { createServer } from "node:http"
import { extname, join, sep } from "node:path"
import { fileURLToPath } from "node:url"

const folder = (name) => fileURLToPath(new URL(name, import.meta.url))
const page = folder(".")
const downloads = folder("../downloads")

const types = {
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".jpg": "image/jpeg",
  ".png": "image/png"
}

/** A file of the folder; nothing that dots or links lead to outside of it. */
const read = async (root, name) => {
  const file = await realpath(join(root, name))
  if (!file.startsWith((await realpath(root)) + sep)) throw new Error("outside")
  return readFile(file)
}

const server = createServer(async (request, response) => {
  try {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname)
    const name = path === "/" ? "/index.html" : path
    const isContent = name.startsWith("/content/")
    const body = isContent ? await read(downloads, name.slice("/content/".length)) : await read(page, name)
    response.setHeader("content-type", types[extname(name)] ?? "application/octet-stream")
    response.setHeader("x-content-type-options", "nosniff")
    response.end(body)
  } catch {
    response.writeHead(404).end("There is no such file")
  }
})

server.listen(Number(process.env.PAGE_PORT ?? 8720), "127.0.0.1", () => {
  console.log("The page is at http://127.0.0.1:" + server.address().port)
})
`
}
