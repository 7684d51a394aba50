import { connect, type Picture, type PictureFile, type Version } from "vitrine/client/preview"

/** Has the objects and their pictures. */
const source = "exhibits"

/** The first is shown until a visitor chooses. A single language has no buttons. */
export const languages = ["en", "de"] as const

/** The width of the picture on the screen. */
export const wide = "(orientation: landscape) 40vw, 90vw"

/** Whether the visitor wants no motion. */
export const isCalm = matchMedia("(prefers-reduced-motion: reduce)")

/** Loads everything of a version, so that it is shown completely or not at all. */
const load = async (version: Version) => {
  const settings = await version.table("exhibits", "Settings")
  const rows = await version.table(source, "Objects")
  const objects = rows.map((row) => ({ ...row, id: String(row.id) }))
  const media = objects.map(async ({ id, picture }) => [id, await mediaOf(version, picture)] as const)
  return { settings, objects, media: new Map(await Promise.all(media)) }
}

export type Content = Awaited<ReturnType<typeof load>>

/** A picture or a film, loaded and ready to be shown. */
export interface Media {
  readonly picture?: Picture
  readonly film?: { readonly src: string; readonly seconds: number }
}

const mediaOf = async (version: Version, file: string | PictureFile | undefined): Promise<Media> => {
  if (!file) return {}
  const picture = version.picture(source, file)
  const { src } = picture
  if (/\.(mp4|m4v|mov|ogv|webm)$/i.test(typeof file === "string" ? file : file.localPath)) {
    const [film] = await version.preload([src])
    const { duration } = film as HTMLVideoElement
    return { film: { src, seconds: Number.isFinite(duration) ? duration : 0 } }
  }
  await decode(picture)
  return { picture }
}

/** Loads the size that the browser will choose, so that it appears at once. */
const decode = async ({ sources, src }: Picture) => {
  const picture = document.createElement("picture")
  const image = Object.assign(new Image(), { src })
  const inSizes = sources.map((source) => Object.assign(document.createElement("source"), source, { sizes: wide }))
  picture.append(...inSizes, image)
  await image.decode().catch(() => {
    throw new Error(`${src} cannot be shown`)
  })
}

/** The connection to the controller. It lives as long as the page. */
export const exhibit = connect({ load })
