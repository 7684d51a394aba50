import { connect, type Version } from "vitrine/client/preview"

/** That of the objects and their pictures. */
const source = "exhibits"

/** Everything of a version, and its pictures loaded: it is shown as a whole, or not at all. */
export const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map(({ picture, ...row }) => ({
    ...row,
    id: String(row.id),
    src: picture && version.picture(source, picture).src
  }))
  await version.preload(objects.flatMap(({ src }) => src || []))
  return { settings, objects }
}

/** What is on the screen: it lives as long as the page. */
export const exhibit = connect({ load })
