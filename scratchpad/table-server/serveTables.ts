/**
 * Serves a folder of tables on this machine like the hosted API: listings in pages and by view, attachments, and changes. It is
 * for the demos, and accepts any token and any base.
 */
import { once } from "node:events"
import { createReadStream } from "node:fs"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { makeChangeFeed } from "./changeFeed.ts"
import { readTables, recordsOf, type Table } from "./readTables.ts"

/** A status, and the body as JSON. */
type Answer = readonly [status: number, body: unknown]

const failed = (status: number, type: string, message: string): Answer => [
  status,
  { error: { type, message } }
]

const notFound = failed(404, "NOT_FOUND", "There is no such thing.")

const found = (body: unknown): Answer => (body === undefined ? notFound : [200, body])

/** Resolves when the server listens. */
export const serveTables = async (directory: string, port: number): Promise<Server> => {
  const changes = makeChangeFeed(directory)

  const list = async (tables: ReadonlyArray<Table>, name: string, { origin, searchParams }: URL) => {
    const table = tables.find((table) => table.name === name || table.id === name)
    if (table === undefined) {
      return failed(403, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", `There is no table "${name}".`)
    }
    const view = searchParams.get("view")
    const records = await recordsOf(directory, table, view)
    if (records === undefined) {
      return failed(422, "VIEW_NAME_NOT_FOUND", `The table has no view "${view}".`)
    }
    const start = Number(searchParams.get("offset"))
    const end = start + Number(searchParams.get("pageSize") ?? 100)
    const page = records.slice(start, end).map(({ fields, ...record }) => ({
      ...record,
      fields: Object.fromEntries(Object.entries(fields).map(([name, cell]) => [name, linked(cell, origin)]))
    }))
    return found({ records: page, ...(end < records.length && { offset: String(end) }) })
  }

  const answer = async ({ headers, method }: IncomingMessage, url: URL): Promise<Answer> => {
    if (!/^bearer +\S/i.test(headers.authorization ?? "")) {
      return failed(401, "AUTHENTICATION_REQUIRED", 'A header "Authorization: Bearer TOKEN" is needed.')
    }
    const [, , base = "", ...path] = url.pathname.split("/").map(decodeURIComponent)
    const [first = "", second = "", id = "", what] = path
    if (base === "bases" && second === "webhooks") {
      if (method === "DELETE") return changes.remove(id) ? [200, {}] : notFound
      if (method === "POST") return found(await changes.create())
      if (what !== "payloads") return found(await changes.list())
      const number = (name: string, otherwise: number) => Number(url.searchParams.get(name) ?? otherwise)
      return found(await changes.payloads(id, number("cursor", 1), number("limit", 50)))
    }
    const tables = await readTables(directory)
    if (base === "meta") {
      return found({ tables: tables.map(({ fields, id, name }) => ({ id, name, fields })) })
    }
    return method === "GET" && second === "" ? list(tables, first, url) : notFound
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`)
    const [, route, file = ""] = url.pathname.split("/").map(decodeURIComponent)
    if (route === "attachments" && !file.split(/[/\\]/).includes("..")) {
      createReadStream(join(directory, file))
        .on("error", () => response.writeHead(404).end())
        .pipe(response)
      return
    }
    const [status, body] = await answer(request, url).catch((error: unknown) =>
      failed(422, "INVALID_TABLE_FILE", String(error))
    )
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  // Longer than a client waits between two requests: a request that is sent while the connection closes fails.
  server.keepAliveTimeout = 15_000
  await once(server.listen(port, "127.0.0.1"), "listening")
  return server
}

export const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** A cell as it is listed: attachments with their addresses. */
const linked = (cell: Table["records"][number]["fields"][string], origin: string) =>
  typeof cell === "string"
    ? cell
    : cell.map(({ file, ...attachment }) => ({
        ...attachment,
        url: `${origin}/attachments/${encodeURIComponent(file)}?id=${attachment.id}`
      }))
