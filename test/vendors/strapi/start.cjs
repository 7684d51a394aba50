/**
 * A Strapi in its own process: fills its database at the first start, serves, and does what it is sent: calls a method
 * of the documents of a type, `{ uid, method, parameters }`, or replaces a file, `{ parameters: { name, file } }`.
 */
const { statSync, existsSync } = require("node:fs")
const { join } = require("node:path")
const { createRequire } = require("node:module")

const folder = process.cwd()
const { createStrapi } = createRequire(join(folder, "package.json"))("@strapi/strapi")

const fileOf = (name, mimetype) => {
  const filepath = join(folder, "files", name)
  return { filepath, originalFilename: name, mimetype, size: statSync(filepath).size }
}

/** As the admin panel writes it: a picture is a copy of its file, with an absolute address. */
const textWith = (photo) => {
  const { id, documentId, publishedAt, locale, folder, folderPath, focalPoint, ...copy } = photo
  const image = { ...copy, url: `http://127.0.0.1:${process.env.PORT}${photo.url}` }
  return [
    { type: "paragraph", children: [{ type: "text", text: "Cast in 1862." }] },
    { type: "image", image, children: [{ type: "text", text: "" }] }
  ]
}

const fill = async (strapi) => {
  await strapi.plugin("i18n").service("locales").create({ code: "de", name: "German (de)" })
  const upload = strapi.plugin("upload").service("upload")
  const [photo] = await upload.upload({
    data: { fileInfo: { name: "bell.jpg", alternativeText: "A bell", focalPoint: { x: 90, y: 50 } } },
    files: [fileOf("bell.jpg", "image/jpeg")]
  })
  const [leaflet] = await upload.upload({
    data: { fileInfo: { name: "leaflet.txt" } },
    files: [fileOf("leaflet.txt", "text/plain")]
  })
  const rooms = strapi.documents("api::room.room")
  const objects = strapi.documents("api::object.object")
  const hall = await rooms.create({ status: "published", data: { name: "Hall" } })
  for (let number = 1; number <= 120; number++) {
    const { documentId } = await objects.create({
      locale: "en",
      status: "published",
      data: {
        title: `Bell ${number}`,
        number,
        ...(number > 3
          ? {}
          : {
              room: hall.documentId,
              cover: photo.id,
              text: textWith(photo),
              size: { unit: "cm", value: number },
              body: [{ __component: "block.picture", caption: "Beside it", file: leaflet.id }]
            })
      }
    })
    if (number <= 2) {
      const data = { title: `Glocke ${number}` }
      await objects.update({ documentId, locale: "de", status: "published", data })
    }
  }
  await objects.create({ locale: "en", data: { title: "Only a draft", number: 0 } })
  const setting = strapi.documents("api::setting.setting")
  const { documentId } = await setting.create({
    locale: "en",
    status: "published",
    data: { welcome: "Welcome" }
  })
  await setting.update({ documentId, locale: "de", status: "published", data: { welcome: "Willkommen" } })
  const tokens = strapi.service("admin::api-token")
  const make = (name, more) => tokens.create({ name, description: "", lifespan: null, ...more })
  const { accessKey: reading } = await make("reading", { type: "read-only" })
  const { accessKey: roomsOnly } = await make("rooms only", {
    type: "custom",
    permissions: ["api::room.room.find"]
  })
  return { reading, roomsOnly }
}

const main = async () => {
  const isNew = !existsSync(process.env.DB)
  const strapi = await createStrapi({ appDir: folder, distDir: folder, serveAdminPanel: false }).load()
  const tokens = isNew ? await fill(strapi) : {}
  await strapi.server.mount()
  await strapi.listen()

  const replace = async ({ file, name }) => {
    const { id } = await strapi.db.query("plugin::upload.file").findOne({ where: { name } })
    const data = { fileInfo: {} }
    await strapi
      .plugin("upload")
      .service("upload")
      .replace(id, { data, file: fileOf(file, "image/jpeg") })
  }
  process.on("message", async ({ uid, method, parameters }) => {
    try {
      const result = await (uid === undefined
        ? replace(parameters)
        : strapi.documents(uid)[method](parameters))
      process.send({ result: result ?? null })
    } catch (error) {
      process.send({ error: String(error) })
    }
  })
  process.send({ result: tokens })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
