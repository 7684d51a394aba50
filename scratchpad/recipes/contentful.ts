/**
 * All entries and assets of a space of Contentful. Entries refer to each other, and to assets, by their ids.
 */
import { jsonSource } from "vitrine"

const {
  CONTENTFUL = "https://cdn.contentful.com",
  CONTENTFUL_SPACE = "space",
  CONTENTFUL_TOKEN = ""
} = process.env

const all = (kind: string) => ({
  url: `${CONTENTFUL}/spaces/${CONTENTFUL_SPACE}/environments/master/${kind}?limit=200&order=sys.id&include=0`,
  headers: { authorization: `Bearer ${CONTENTFUL_TOKEN}` },
  items: "items",
  key: "sys.id",
  offset: "skip",
  total: "total"
})

export const contentful = jsonSource({
  id: "contentful",
  documents: { entries: all("entries"), assets: all("assets") },
  media: { find: ["**.file.url"] }
})
