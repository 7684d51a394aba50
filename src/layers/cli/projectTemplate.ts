/**
 * The files of a new project.
 */
import { page } from "./pageTemplate.ts"
import { plainFiles, reactFiles, viteFiles } from "./viteTemplate.ts"

/** Without a page, the controller opens no port for content: programs read the folder. */
const configuration = (site?: string) =>
  `import { content, ${site ? "contentServer, " : ""}defineConfig, folderSource, httpTransport } from "vitrine"

export default defineConfig({
  plugins: [
    // Fetches all sources into downloads/versions/…, and points downloads/manifest.json to the newest version.
    content({
      fetchEvery: "1 minute", // the folder is watched as well: an edit is fetched at once
      sources: [
        folderSource({
          id: "exhibits",
          directory: "content",
          // What has to be true before anything of it is shown: there is a table of objects with one at least, each has a title,
          // and the pictures that they name are there. Where an editor renames a column, the last good version stays on the
          // screens, and the log says why.
          expect: { Objects: { fields: { title: "text", picture: "file?" }, minRecords: 1 } }
        })
      ]
    }),

    // Tells browsers and game engines about it, on http://127.0.0.1:8710.
    httpTransport({ port: 8710 })${site ? pageServer(site) : ""}
  ]
})
`

const pageServer = (site: string) => `,

    // Serves the folder "${site}", and the content to it, on http://127.0.0.1:8730.
    contentServer({ port: 8730, site: "${site}" })`

/** Their content by their path, with forward slashes. */
export const projectTemplate: Readonly<Record<string, string>> = {
  "vitrine.config.ts": configuration(),
  "content/Objects.csv": `id,title,year,picture,alt,text
VM-1931-04,The Penrice Fog Bell,1862,pictures/fog-bell.svg,"A bronze bell with a broad rim","It was rung by hand, every ninety seconds, for as long as the fog lay on the harbour. The longest watch on record is three days and two nights."
VM-1919-01,The Sulking Barometer,1798,pictures/barometer.svg,"A round brass barometer whose needle points to rain","Its maker swore that it worked. It has pointed to rain since the day it was hung up, and has been right about half of the time."
VM-1954-11,A Bottle of Spring Tide,1887,pictures/tide.svg,"A corked glass bottle with a wave in it","Filled by a lighthouse keeper at the highest water of the year. When the moon is full, the wave still leans against the glass."
`,
  "content/Settings.json": `{
  "title": "Kept at the harbour",
  "slideSeconds": 16
}
`,
  "content/pictures/fog-bell.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" fill="none" stroke="#5c4726" stroke-width="5" stroke-linejoin="round">
  <path d="M120 40h160M200 40v40" stroke-width="12" stroke-linecap="round" />
  <circle cx="200" cy="312" r="26" fill="#5c4726" />
  <path d="M200 78c62 0 84 44 88 108 3 56 14 84 44 110H68c30-26 41-54 44-110 4-64 26-108 88-108z" fill="#b8924f" />
  <path d="M150 104c-22 24-24 60-26 96-2 38-8 62-22 84" stroke="#e3c68c" stroke-width="9" stroke-linecap="round" />
  <path d="M111 200h178M104 226h192M68 296h264" />
</svg>
`,
  "content/pictures/barometer.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" fill="none" stroke="#4a3a22" stroke-width="5" stroke-linecap="round">
  <circle cx="200" cy="200" r="160" fill="#b8924f" />
  <circle cx="200" cy="200" r="130" fill="#fbf8f1" />
  <path d="M120 280a113 113 0 1 1 160 0" stroke-dasharray="2 21" stroke-width="14" stroke-linecap="butt" />
  <path d="M200 200l-72 34" stroke="#9c2f2f" stroke-width="9" />
  <path d="M200 200l26-12" stroke="#9c2f2f" stroke-width="14" />
  <circle cx="200" cy="200" r="11" fill="#4a3a22" />
  <path d="M160 290q20-24 40 0t40 0" stroke="#5b83a0" stroke-width="7" />
</svg>
`,
  "content/pictures/tide.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" fill="none" stroke="#3d5563" stroke-width="5" stroke-linejoin="round">
  <rect x="172" y="28" width="56" height="44" rx="6" fill="#b8824f" />
  <path d="M164 72h72v58c0 24 62 40 62 96v118a30 30 0 0 1-30 30H132a30 30 0 0 1-30-30V226c0-56 62-72 62-96z" fill="#e4eef0" />
  <path d="M102 292c40 0 58-10 84-40 22-26 58-34 76-12 10 14 0 30-16 26 8 20 30 22 52 18v60a30 30 0 0 1-30 30H132a30 30 0 0 1-30-30z" fill="#5f93a8" />
  <path d="M128 226c4-30 34-44 44-66" stroke="#fff" stroke-width="9" stroke-linecap="round" />
</svg>
`,
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true,
    "allowImportingTsExtensions": true
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
  "vitrine.config.ts": configuration("page"),
  "page/index.html": page
}

/** The same with a page made by Vite. */
export const viteTemplate = ({ react }: { readonly react: boolean }): Readonly<Record<string, string>> => ({
  "vitrine.config.ts": configuration("dist"),
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "lib": ["es2023", "dom", "dom.iterable"],
${react ? '    "jsx": "react-jsx",\n' : ""}    "strict": true,
    "skipLibCheck": true,
    "noEmit": true,
    "allowImportingTsExtensions": true
  },
  "include": ["*.ts", "src"]
}
`,
  ".gitignore": `${projectTemplate[".gitignore"]}dist/
`,
  ...viteFiles,
  ...(react ? reactFiles : plainFiles)
})
