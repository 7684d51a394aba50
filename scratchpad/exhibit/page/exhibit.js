/**
 * Turns saved tables into the content of the screen. It parses cells and applies defaults and limits: every text is a
 * string and every number is in range, for any input in the table.
 */

const asText = (value) => {
  if (Array.isArray(value)) {
    return value.map(asText).filter(Boolean).join(", ")
  }
  return value === null || value === undefined || typeof value === "object" ? "" : String(value).trim()
}

const asLines = (value) => (Array.isArray(value) ? value : [value]).map(asText).filter(Boolean)

const asOrder = (value) => {
  const order = Number.parseFloat(asText(value))
  return Number.isNaN(order) ? Number.MAX_VALUE : order
}

const asSeconds = (value, { fallback, least, most }) =>
  typeof value === "number" ? Math.min(most, Math.max(least, value)) : fallback

const asColour = (value, fallback) => (CSS.supports("color", asText(value)) ? asText(value) : fallback)

const pictureType = /^image\/(avif|gif|jpeg|png|svg\+xml|webp)$/

/** The first attachment that a browser can show, or `null`. The column `alt` describes the picture. */
const pictureOf = (record) => {
  const attachments = Array.isArray(record.picture) ? record.picture : []
  const attachment = attachments.find(
    ({ localPath, type }) => typeof localPath === "string" && pictureType.test(type)
  )
  return attachment === undefined
    ? null
    : {
        id: attachment.id,
        path: attachment.localPath,
        alt: asText(record.alt) || asText(record.title),
        // Drawings are cut out; photographs have edges.
        isDrawing: attachment.type === "image/svg+xml"
      }
}

const toObject = (record) => ({
  key: asText(record.inventory) || record.id,
  order: asOrder(record.order),
  title: asText(record.title) || "Untitled",
  year: asText(record.year),
  maker: asText(record.maker),
  material: asText(record.material),
  room: asText(record.room),
  text: asText(record.text),
  picture: pictureOf(record)
})

const byOrder = (a, b) => a.order - b.order || a.key.localeCompare(b.key)

/** Every room once: first the rooms in the settings, in their order, then the others in table order. */
const roomsOf = (settings, objects) => [
  ...new Set([...asLines(settings.rooms), ...objects.map(({ room }) => room)])
]

const asLanguage = (value) => {
  try {
    return Intl.getCanonicalLocales(asText(value))[0] ?? "en"
  } catch {
    return "en"
  }
}

/**
 * `{ language, museum, title, subtitle, openingHours, accent, slideSeconds, showYear, showMaker, rooms, objects }`, the
 * objects in the order of the show, each key once, each with a `picture` of `{ id, path, alt, isDrawing }` or `null`.
 */
export const toExhibit = (records, settings) => {
  const byKey = new Map(records.map(toObject).map((object) => [object.key, object]))
  const objects = [...byKey.values()].sort(byOrder)
  return {
    language: asLanguage(settings.language),
    museum: asText(settings.museum),
    title: asText(settings.title),
    subtitle: asText(settings.subtitle),
    openingHours: asLines(settings.openingHours),
    accent: asColour(settings.accent, "#ffc069"),
    slideSeconds: asSeconds(settings.slideSeconds, { fallback: 16, least: 4, most: 600 }),
    showYear: settings.showYear !== false,
    showMaker: settings.showMaker !== false,
    rooms: roomsOf(settings, objects),
    objects
  }
}
