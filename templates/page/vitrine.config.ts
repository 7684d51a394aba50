import { content, contentServer, defineConfig, folderSource, httpTransport } from "vitrine"

export default defineConfig({
  plugins: [
    // Fetches all sources into downloads/versions/…, and points downloads/manifest.json to the newest version.
    content({
      fetchEvery: "1 minute", // the folder is watched as well: an edit is fetched at once
      sources: [
        folderSource({
          id: "exhibits",
          directory: "content",
          keyValueTables: ["Settings"],
          problems: "file", // tells editors in content/VITRINE-PROBLEMS.txt what is wrong
          // Checked before anything is shown. If an editor renames a column, saves half of the file, or names a picture that
          // is not there, the last good version stays on the screens. A "?" means that a cell may be empty.
          expect: {
            Objects: {
              fields: {
                title: "text",
                title_de: "text?",
                year: "text?",
                picture: "file?",
                alt: "text?",
                alt_de: "text?",
                text: "text?",
                text_de: "text?",
                sound: "file?",
                sound_de: "file?",
                from: "date?",
                until: "date?"
              },
              minRecords: 1,
              maxVanishing: 0.5 // at most half of the objects may be gone at once
            },
            Settings: {
              fields: {
                title: "text?",
                title_de: "text?",
                theme: "text?",
                slideSeconds: "number?",
                slideLanguages: "text?",
                volume: "number?",
                rotate: "number?"
              }
            }
          }
        })
      ]
    }),

    // Tells browsers and game engines about it, on http://127.0.0.1:8710.
    httpTransport({ port: 8710 }),

    // Serves the folder "page", and the content to it, on http://127.0.0.1:8730.
    contentServer({ port: 8730, site: "page" })
  ]
})
