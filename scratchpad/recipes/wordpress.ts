/**
 * The posts of a WordPress site without a password, with the picture that belongs to each.
 */
import { decodeHTML } from "entities"
import { jsonSource } from "vitrine"

const { WORDPRESS = "https://museum.example" } = process.env

const textOf = (html = "") => decodeHTML(html.replace(/<[^>]*>/g, "")).trim()

export const wordpress = jsonSource({
  id: "magazine",
  documents: {
    Objects: {
      url: `${WORDPRESS}/wp-json/wp/v2/posts?per_page=100&_embed=1&orderby=id&order=asc`,
      next: "link"
    }
  },
  steps: [
    (posts) =>
      posts
        .filter(({ excerpt }) => !excerpt?.protected)
        .map(({ id, title, date = "", excerpt, _embedded }) => {
          const [media] = _embedded?.["wp:featuredmedia"] ?? []
          return {
            id: String(id),
            title: textOf(title.rendered),
            year: date.slice(0, 4),
            text: textOf(excerpt?.rendered),
            ...(media?.source_url && { picture: { url: media.source_url }, alt: media.alt_text })
          }
        })
  ],
  media: { find: ["**.picture.url"] },
  expect: { Objects: { fields: { title: "text" }, minRecords: 1 } }
})
