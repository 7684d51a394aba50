/**
 * Rules about names: of documents, fields, records and files that are no content.
 */
import { expect } from "@effect/vitest"
import { inDocument, published, quiet, refused, rule, warned } from "./harness.ts"

export const names = [
  rule(
    14,
    "Two documents that people read as one (copies, conflicted copies, a doubled extension) are named",
    "warn",
    "● n n n n n ●",
    function* ({ each, open }) {
      const copies = {
        Dropbox: "objects (Ann Smith's conflicted copy 2026-11-20)",
        Syncthing: "objects.sync-conflict-20261120-101112-ABCDEFG",
        "Synology Drive": "objects_Desk_Nov-20-101112-2026_Conflict",
        "a copy": "objects (1)",
        GNOME: "objects (another copy)",
        "a doubled extension": "objects.json"
      }
      const rows = [{ id: "bell", title: "Bell" }]
      const all = ["objects", ...Object.values(copies)]
      const museum = yield* open({ documents: Object.fromEntries(all.map((name) => [name, rows])) })
      const outcome = yield* museum.fetch
      yield* each(copies, function* (copy) {
        warned(outcome, "names:alike", copy)
      })
    }
  ),

  rule(
    15,
    "Two columns or keys of one record or header that people read as one (capitals, invisible characters, blanks, composed letters) are named; `Key` and `Value` are key and value",
    "warn",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const alike = {
        capitals: "TITLE",
        blanks: "title ",
        invisible: "ti\u200btle",
        wide: "ｔitle",
        direction: "title\u202c",
        Cyrillic: "tіtlе"
      }
      const museum = yield* open({
        documents: {
          ...Object.fromEntries(
            Object.entries(alike).map(([document, name]) => [
              document,
              [{ id: "bell", title: "Bell", [name]: "Bells" }]
            ])
          ),
          inside: [{ id: "bell", name: { de: "Glocke", DE: "Uhr" } }]
        }
      })
      const outcome = yield* museum.fetch
      yield* each(alike, function* (_, document) {
        warned(outcome, "names:alike", document, "title")
      })
      warned(outcome, "names:alike", "inside", "name.de", "name.DE")
      if (reader === "folder" || reader === "tables") {
        const settings = [{ id: "title", Key: "title", Value: "Bells" }]
        const museum = yield* open({ documents: { settings }, isCsv: true }, { keyValueTables: ["settings"] })
        expect(JSON.parse(published(yield* museum.fetch).text("settings"))).toEqual({ title: "Bells" })
      }
    }
  ),

  rule(
    16,
    "A name twice in one object or header is named (names are counted in the scan that counts commas, and in what was parsed)",
    "warn; refuse in a header",
    "● ● k k k k g",
    function* ({ open }) {
      const documents = { objects: [{ id: "bell", title: "Bell", text: "Loud" }] }
      const twice = yield* open({
        documents,
        change: inDocument("objects", (body) => body.replace('"title"', '"title":"Old","title"'))
      })
      warned(yield* twice.fetch, "names:twice", "objects", "title")
      const header = yield* open({
        documents,
        isCsv: true,
        change: inDocument("objects", (body) => body.replace('"text"', '"title"'))
      })
      refused(yield* header.fetch, "title")
    }
  ),

  rule(
    18,
    "Two records with one id are named with both places",
    "warn; refuse in a list of pages",
    "● ● k k k ● ●",
    function* ({ open }) {
      const museum = yield* open({
        documents: {
          objects: [
            { id: "bell", title: "Bell" },
            { id: "loom", title: "Loom" },
            { id: "bell", title: "Jug" }
          ],
          rooms: [
            { id: "hall", name: "Hall" },
            { id: "hall ", name: "Tower" }
          ],
          makers: [
            { id: "M\u00fcller", name: "Anna" },
            { id: "Mu\u0308ller", name: "Bert" }
          ],
          tours: [
            { id: "long", name: "All" },
            { id: "lo\u200bng", name: "Most" }
          ]
        }
      })
      const outcome = yield* museum.fetch
      warned(outcome, "records:twice", "objects", "bell")
      warned(outcome, "records:twice", "rooms", "hall")
      warned(outcome, "records:twice", "makers", "M\u00fcller")
      warned(outcome, "records:twice", "tours", "long")
    }
  ),

  rule(
    21,
    "Bins, snapshots, thumbnails and work files of systems and storage boxes are no content, by their exact names",
    "right",
    "● n n n n n n",
    function* ({ open }) {
      const others = [
        "Thumbs.db",
        "desktop.ini",
        ".DS_Store",
        "@eaDir/bell.png@SynoEAStream",
        "#recycle/bell.png",
        "$RECYCLE.BIN/bell.png",
        "System Volume Information/IndexerVolumeGuid",
        ".~lock.objects.csv#",
        "~$objects.xlsx",
        "Temporary Items/bell.png",
        "bell.png.aria2",
        "ehthumbs_vista.db",
        "@tmp/bell.png"
      ]
      const museum = yield* open({
        documents: { objects: [{ id: "bell", title: "Bell" }] },
        files: { ...Object.fromEntries(others.map((name) => [name, "x"])), "my recycle/bell.txt": "content" }
      })
      const outcome = yield* museum.fetch
      quiet(outcome)
      expect(outcome.files).toEqual(["my recycle/bell.txt", "objects.json"])
    }
  ),

  rule(
    28,
    "`__proto__`, `constructor` and their like are ordinary names",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open }) {
      const inherited = ["__proto__", "constructor", "toString"]
      const row = Object.fromEntries(inherited.map((name) => [name, `own ${name}`]))
      const museum = yield* open({ documents: { objects: [{ id: "bell", ...row }] } })
      const text = published(yield* museum.fetch).text("objects")
      for (const name of inherited) expect(text).toContain(`"${name}":"own ${name}"`)
    }
  )
]
