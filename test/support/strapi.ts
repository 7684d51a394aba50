/**
 * A stand-in for Strapi 5: collections and single types in memory, with its pages, languages, drafts, tokens and errors.
 */
import * as Effect from "effect/Effect"
import mime from "mime"
import { json, make, type ReceivedRequest, text } from "./ScriptedServer.ts"

export interface StrapiEntry {
  readonly documentId: string
  readonly locale?: string
  /** Null for a draft. */
  readonly publishedAt: string | null
  readonly [field: string]: unknown
}

interface State {
  /** By plural names, or of single types by singular ones. */
  types: Record<string, { isSingle?: boolean; entries: ReadonlyArray<StrapiEntry> }>
  /** The bytes of files, by their paths. */
  uploads: Record<string, string | Uint8Array>
  /** What the token may not read. */
  forbidden: ReadonlyArray<string>
  /** The most that it gives at once. */
  maxLimit: number
}

export const strapiToken = "0123456789abcdef".repeat(16)

const names: Readonly<Record<number, string>> = {
  400: "ValidationError",
  401: "UnauthorizedError",
  403: "ForbiddenError",
  404: "NotFoundError"
}

const refuse = (status: number, message: string, details = {}) =>
  json(status, { data: null, error: { status, name: names[status], message, details } })

const answerTo = ({ headers, url }: ReceivedRequest, { forbidden, maxLimit, types, uploads }: State) => {
  const { pathname, searchParams } = new URL(url, "http://localhost")
  const upload = uploads[decodeURIComponent(pathname)]
  if (upload !== undefined) {
    return text(200, upload, { "content-type": mime.getType(pathname) ?? "image/jpeg" })
  }
  const name = pathname.replace("/api/", "")
  const type = types[name]
  if (type === undefined) {
    return refuse(404, "Not Found")
  }
  if (headers.authorization !== `Bearer ${strapiToken}`) {
    return refuse(401, "Missing or invalid credentials")
  }
  if (forbidden.includes(name)) {
    return refuse(403, "Forbidden")
  }
  const isLocalized = type.entries.some(({ locale }) => locale !== undefined)
  const fields = searchParams.getAll("fields[]")
  if (!isLocalized && fields.includes("locale")) {
    return refuse(400, "Invalid key locale", { key: "locale", source: "query", param: "fields" })
  }
  const asked = searchParams.get("locale") ?? "en"
  const isDraft = searchParams.get("status") === "draft"
  const found = type.entries.filter(
    ({ locale = asked, publishedAt }) => locale === asked && (publishedAt === null) === isDraft
  )
  if (type.isSingle) {
    return found[0] === undefined ? refuse(404, "Not Found") : json(200, { data: found[0], meta: {} })
  }
  const [sort = "documentId:asc"] = searchParams.getAll("sort[]")
  const [field = "", direction] = sort.split(":")
  const sign = direction === "desc" ? -1 : 1
  const sorted = found.toSorted((a, b) => (String(a[field]) < String(b[field]) ? -sign : sign))
  const page = Number(searchParams.get("pagination[page]") ?? 1)
  const pageSize = Math.min(Number(searchParams.get("pagination[pageSize]") ?? 25), maxLimit)
  const total = sorted.length
  const pagination = { page, pageSize, pageCount: Math.ceil(total / pageSize), total }
  const data = sorted.slice((page - 1) * pageSize, page * pageSize)
  return json(200, { data, meta: { pagination } })
}

/** Answers for the state as it is then. */
export const startStrapi = (initial: Partial<State>) =>
  Effect.gen(function* () {
    const state: State = { types: {}, uploads: {}, forbidden: [], maxLimit: 100, ...initial }
    const server = yield* make((response, request) => answerTo(request, state)(response, request))
    return { ...server, state }
  })
