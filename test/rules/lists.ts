/**
 * Rules about lists: their order, whether they are whole, and what is gone from them.
 */
import { expect } from "@effect/vitest"
import { inDocument, published, quiet, refused, rule, warned } from "./harness.ts"
import { type Row, translated } from "./readers.ts"

const rowsOf = (count: number, fields: (index: number) => object = () => ({})): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, index) => ({
    id: `object${String(index).padStart(2, "0")}`,
    number: index,
    title: `Bell ${index}`,
    ...fields(index)
  }))

export const lists = [
  rule(
    5,
    "A document that is gone is named; a placeholder of a synced folder is no document and no absence",
    "warn; refuse the placeholder",
    "● k k k k ● ●",
    function* ({ each, open, reader }) {
      const objects = rowsOf(2)
      const museum = yield* open({ documents: { objects, rooms: rowsOf(2) } })
      quiet(yield* museum.fetch)
      museum.give({ documents: { objects } })
      warned(yield* museum.fetch, "gone:document", "rooms")
      museum.give({ documents: { objects: rowsOf(3) } })
      warned(yield* museum.fetch, "gone:document", "rooms")
      if (reader !== "folder") return
      const placeholders = {
        iCloud: ".rooms.json.icloud",
        Nextcloud: "rooms.json.nextcloud",
        Resilio: "rooms.json.rsls"
      }
      yield* each(placeholders, function* (file) {
        const synced = yield* open({ documents: { objects, rooms: rowsOf(2) } })
        quiet(yield* synced.fetch)
        synced.give({ documents: { objects }, files: { [file]: " " } })
        refused(yield* synced.fetch, "rooms")
      })
    }
  ),

  rule(
    6,
    "A list of at least ten that lost more than a third of its records is named; a written `maxVanishing: 1` says that this is usual",
    "warn; `maxVanishing` refuses",
    "● ● ● ● ● ● ●",
    function* ({ each, open }) {
      const after = function* (left: number, maxVanishing?: number) {
        const museum = yield* open(
          { documents: { objects: rowsOf(12) } },
          maxVanishing === undefined ? {} : { expect: { objects: { maxVanishing } } }
        )
        quiet(yield* museum.fetch)
        museum.give({ documents: { objects: rowsOf(left) } })
        return yield* museum.fetch
      }
      yield* each({ default: undefined }, function* () {
        warned(yield* after(7), "gone:records", "objects")
      })
      quiet(yield* after(9))
      quiet(yield* after(7, 1))
      refused(yield* after(7, 0.3), "objects")
    }
  ),

  rule(
    7,
    "A field that half of the records had (at least ten) and none has any more is named, also a field or a language inside it, or what is no list, object or text any more; a renamed one with its likely new name",
    "warn; `expect` refuses",
    "● ● ● ● ● ● ●",
    function* ({ open }) {
      const museum = yield* open({
        documents: {
          objects: rowsOf(12, (index) => ({
            maker: `Smith ${index}`,
            name: { de: "Glocke", fr: "Cloche" },
            tags: ["brass"]
          }))
        }
      })
      quiet(yield* museum.fetch)
      museum.give({
        documents: {
          objects: rowsOf(12, (index) => ({
            makers: `Smith ${index}`,
            name: { de: "Glocke" },
            tags: "brass"
          }))
        }
      })
      const outcome = yield* museum.fetch
      warned(outcome, "gone:field", "objects", '"maker"', "makers")
      warned(outcome, "gone:field", "objects", '"name.fr"')
      warned(outcome, "gone:field", "objects", '"tags" a list')
    }
  ),

  rule(
    19,
    "A list keeps the order of its system: ties, pages, untranslated entries",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open, reader }) {
      const isTranslated = reader === "Strapi" || reader === "Directus"
      const titleOf = (id: string) =>
        isTranslated ? translated(id === "c" ? { en: id } : { de: id, en: id.toUpperCase() }) : id
      const objects = ["d", "c", "b", "a"].map((id, number) => ({ id, number, title: titleOf(id) }))
      const museum = yield* open({ documents: { objects } }, isTranslated ? { locales: ["de", "en"] } : {})
      const outcome = published(yield* museum.fetch)
      expect(outcome.records("objects").map(({ id }) => id)).toEqual(["d", "c", "b", "a"])
    }
  ),

  rule(
    20,
    "A list is whole: fewer than the server says, one twice, an error in the middle",
    "refuse after one more try",
    "s ● ● ● ● s s",
    function* ({ open, reader }) {
      const museum = yield* open({
        documents: { objects: rowsOf(3) },
        isPaged: true,
        change: (given) =>
          reader === "JSON"
            ? { headers: { ...given.headers, "x-total-count": "4" } }
            : inDocument("objects", (text) =>
                reader === "tables"
                  ? text.replace(/}$/, ',"offset":"more"}')
                  : text.replace(/"(total|filter_count)":3/, '"$1":4')
              )(given)
      })
      refused(yield* museum.fetch, "objects")
      const isTranslated = reader === "Strapi"
      const title = isTranslated ? translated({ de: "Glocke", en: "Bell" }) : "Bell"
      const cut = yield* open(
        {
          documents: { objects: rowsOf(150, () => ({ title })) },
          isPaged: true,
          change: ({ url }) =>
            /[?&](?:pagination\[page]=2|skip=2|offset=(?!0))/.test(decodeURIComponent(url)) &&
            (!isTranslated || url.includes("locale=en"))
              ? { status: 404, body: Buffer.from('{"error":{"status":404,"name":"NotFoundError"}}') }
              : {}
        },
        isTranslated ? { locales: ["de", "en"] } : {}
      )
      refused(yield* cut.fetch, "objects")
    }
  ),

  rule(
    34,
    "Nothing of a refused fetch is shown; finished downloads and pictures may stay for the next",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open }) {
      const museum = yield* open(
        { documents: { objects: rowsOf(2), rooms: rowsOf(1) } },
        { expect: { objects: { minRecords: 1 } } }
      )
      const before = published(yield* museum.fetch)
      museum.give({ documents: { objects: [], rooms: rowsOf(3) }, files: { "new.txt": "x" } })
      const after = yield* museum.fetch
      refused(after, "objects")
      expect(after.files).toEqual(before.files)
      expect(after.text("rooms")).toBe(before.text("rooms"))
    }
  )
]
