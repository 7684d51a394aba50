/**
 * The files of a new project.
 */

/** Without a page, the controller opens no port for content: programs read the folder. */
const configuration = ({ withPage }: { readonly withPage: boolean }) =>
  `import { content, ${withPage ? "contentServer, " : ""}defineConfig, folderSource, httpTransport } from "vitrine"

export default defineConfig({
  plugins: [
    // Fetches all sources into downloads/versions/…, and points downloads/manifest.json to the newest version.
    content({
      fetchEvery: "1 minute", // the folder is watched as well: an edit is fetched at once
      sources: [
        folderSource({
          id: "exhibits",
          directory: "content",
          expect: { Objects: { fields: { title: "text" }, minRecords: 1 } } // anything else is not shown
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
  "content/Objects.csv": `id,title,year,picture
VM-1931-04,The Penrice Fog Bell,1862,pictures/fog-bell.svg
VM-1919-01,The Sulking Barometer,1798,pictures/barometer.svg
`,
  "content/Settings.json": `{
  "title": "Kept",
  "slideSeconds": 16
}
`,
  "content/pictures/fog-bell.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">
  <path d="M20 4v4m-14 22q4-3 4-12a10 10 0 0 1 20 0q0 9 4 12zm11 0a3 3 0 0 0 6 0" fill="#b08d57" stroke="#5c4726" stroke-width="1.5" />
</svg>
`,
  "content/pictures/barometer.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">
  <circle cx="20" cy="20" r="15" fill="#f4efe4" stroke="#5c4726" stroke-width="3" />
  <path d="M20 20l-7 6" stroke="#8c2f2f" stroke-width="2" />
</svg>
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
          ...objects.map(({ id, picture, ...fields }) => {
            const row = document.createElement("tr")
            if (picture) row.insertCell().append(Object.assign(new Image(48), { src: version.url("exhibits", picture) }))
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
