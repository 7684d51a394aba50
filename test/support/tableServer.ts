/**
 * A table server on its own port, and how it is asked.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TableServerLayer from "./tableServer/TableServer.ts"
import type { TableServerConfig } from "./tableServer/TableServerOptions.ts"
import { TableServer } from "./tableServer/TableServerService.ts"

const token = { authorization: "Bearer any" }

const json = { "content-type": "application/json; charset=utf-8" }

export type Options = Omit<TableServerConfig, "directory">

/** Serves a folder until the scope ends. */
export const start = (directory: string, options: Options = {}) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(TableServerLayer.layer({ port: 0, ...options, directory }))
    const server = Context.get(context, TableServer)
    const { port } = server.address
    const url = `http://127.0.0.1:${port}`
    const get = (path: string, headers: Readonly<Record<string, string>> = token) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`, { headers })
        return { status: response.status, body: (await response.json()) as unknown }
      })
    const post = (
      path: string,
      body: string | Uint8Array,
      headers: Readonly<Record<string, string>> = json
    ) =>
      Effect.promise(async () => {
        const request = { method: "POST", headers: { ...token, ...headers }, body }
        const response = await fetch(`${url}${path}`, request)
        return { status: response.status, body: (await response.json()) as unknown }
      })
    const remove = (path: string) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`, { method: "DELETE", headers: token })
        return { status: response.status, text: await response.text() }
      })
    return { ...server, port, url, get, post, remove }
  })
