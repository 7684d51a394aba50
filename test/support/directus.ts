/**
 * A stand-in for Directus: collections and singletons in memory, with its pages, fields, tokens, errors and files.
 */
import * as Effect from "effect/Effect"
import { type Answer, json, make, type ReceivedRequest, text } from "./ScriptedServer.ts"
import { sha256 } from "./sha256.ts"

export type DirectusItem = Readonly<Record<string, unknown>>

interface State {
  collections: Record<string, { isSingleton?: boolean; items: ReadonlyArray<DirectusItem> }>
  /** The bytes of files, by their ids. */
  files: Record<string, string | Uint8Array>
  /** The media types of files, by their ids. Default `image/jpeg`. */
  types: Record<string, string>
  /** What the token may not read. */
  forbidden: ReadonlyArray<string>
  /** The fields that the token may read, if it may not read all, by collections. */
  rights: Record<string, ReadonlyArray<string>>
  /** How many items it gives at once. */
  limit: number
}

export const directusToken = "static-token-of-a-reader"

const codes: Readonly<Record<number, string>> = {
  400: "INVALID_QUERY",
  401: "INVALID_CREDENTIALS",
  403: "FORBIDDEN",
  404: "ROUTE_NOT_FOUND"
}

const refuse = (status: number, message: string) =>
  json(status, { errors: [{ message, extensions: { code: codes[status] } }] })

/** As Directus does, which asks the database in any case. */
const unlessKnown =
  (body: unknown): Answer =>
  (response, request) => {
    const etag = `W/"${sha256(JSON.stringify(body))}"`
    const answer =
      request.headers["if-none-match"] === etag ? text(304, "", { etag }) : json(200, body, { etag })
    answer(response, request)
  }

const answerTo = (
  { headers, url }: ReceivedRequest,
  { collections, files, forbidden, limit, rights, types }: State
): Answer => {
  const { pathname, searchParams } = new URL(url, "http://localhost")
  const [, kind = "", name = ""] = pathname.split("/")
  if (headers.authorization !== `Bearer ${directusToken}`) {
    return headers.authorization === undefined
      ? refuse(403, "You don't have permission to access this.")
      : refuse(401, "Invalid user credentials.")
  }
  switch (kind) {
    case "assets":
      return files[name] === undefined
        ? refuse(403, "You don't have permission to access this.")
        : text(200, files[name], { "content-type": types[name] ?? "image/jpeg" })
    case "permissions":
      return json(200, {
        data: Object.fromEntries(
          Object.keys(collections).map((name) => [
            name,
            { read: { access: "full", fields: rights[name] ?? ["*"] } }
          ])
        )
      })
    case "items":
      break
    default:
      return refuse(404, `Route ${pathname} doesn't exist.`)
  }
  const collection = collections[name]
  if (collection === undefined || forbidden.includes(name)) {
    return refuse(403, `You don't have permission to access collection "${name}" or it does not exist.`)
  }
  const { isSingleton, items } = collection
  const fields = (searchParams.get("fields") ?? "*").split(",").map((path) => path.split(".")[0] ?? "")
  // Its items say which fields a collection has. Without items, it has all fields except those that few have.
  const hasField = (field: string) =>
    items.length === 0 ? !/^(?:status|translations)$/.test(field) : items.some((item) => field in item)
  const unknown = fields.find((field) => field !== "*" && (!mayRead(field, rights[name]) || !hasField(field)))
  if (unknown !== undefined) {
    return refuse(403, `You don't have permission to access field "${unknown}" in collection "${name}".`)
  }
  const filter = searchParams.get("filter") ?? "{}"
  const found = items.filter(({ status }) => status === undefined || isIn(filter, status))
  if (isSingleton) {
    return unlessKnown({ meta: { filter_count: found.length }, data: found[0] ?? {} })
  }
  const offset = Number(searchParams.get("offset") ?? 0)
  const data = found.slice(offset, offset + Math.min(limit, Number(searchParams.get("limit") ?? limit)))
  return unlessKnown({ meta: { filter_count: found.length }, data })
}

const mayRead = (field: string, readable: ReadonlyArray<string> = [field]) => readable.includes(field)

/** Evaluates only what the filter says of `status`. */
const isIn = (filter: string, status: unknown): boolean => {
  const [, statuses] = /"status":\{"_in":(\[[^\]]*\])\}/.exec(filter) ?? []
  return statuses === undefined || statuses.includes(JSON.stringify(status))
}

/** Answers for the state as it is then; items in the order that they have there. */
export const startDirectus = (initial: Partial<State>) =>
  Effect.gen(function* () {
    const state: State = {
      collections: {},
      files: {},
      types: {},
      forbidden: [],
      rights: {},
      limit: 100,
      ...initial
    }
    const server = yield* make((response, request) => answerTo(request, state)(response, request))
    return { ...server, state }
  })
