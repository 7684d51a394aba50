/**
 * The posts of a WordPress site, with the picture that belongs to each.
 */
import { jsonSource } from "vitrine"

const { WORDPRESS = "https://museum.example" } = process.env

export const wordpress = jsonSource({
  id: "magazine",
  documents: {
    posts: {
      url: `${WORDPRESS}/wp-json/wp/v2/posts?per_page=100&_embed=1&orderby=id&order=asc`,
      next: "link"
    }
  },
  media: { find: ["**.wp:featuredmedia.*.source_url"] },
  expect: { posts: { minRecords: 1 } }
})
