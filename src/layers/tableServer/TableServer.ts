/**
 * The local table server: a folder of CSV and JSON files, served as the hosted table API would serve them.
 *
 * It owns the port and what reaches the log at the start. It writes nothing.
 */
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as Path from "@effect/platform/Path"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { BindError } from "../../services/BindError.ts"
import type { InvalidOptions } from "../../services/Options.ts"
import { type TableFolderError, TableServer } from "../../services/TableServer.ts"
import { listen } from "../http/listen.ts"
import { answerMalformed } from "../http/malformed.ts"
import { malformedRequest } from "./ApiError.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Routes from "./routes.ts"
import * as TableFolder from "./TableFolder.ts"
import { decodeTableServerOptions, type TableServerInput } from "./TableServerOptions.ts"

export { TableServer }

/** Serves the tables of a folder until the scope ends. A folder that cannot be listed fails it. */
export const layer = (
  options: TableServerInput
): Layer.Layer<
  TableServer,
  InvalidOptions | BindError | TableFolderError,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(TableServer, make(options))

const make = (
  input: TableServerInput
): Effect.Effect<
  TableServer["Type"],
  InvalidOptions | BindError | TableFolderError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> =>
  Effect.gen(function* () {
    const options = yield* decodeTableServerOptions(input)
    const folder = yield* TableFolder.make(options.directory)
    const names = yield* folder.names
    const rateLimit = options.rateLimit ? yield* RateLimit.make : RateLimit.unlimited
    const issuer = randomBytes(6).toString("hex")
    const app = yield* Routes.make({ options, folder, rateLimit, issuer })
    const handler = yield* HttpMiddleware.withTracerDisabledWhenEffect(
      NodeHttpServer.makeHandler(app),
      constTrue
    )
    const server = answerMalformed(
      createServer({ requireHostHeader: false }, handler),
      ({ message, status }) => ({
        headers: {},
        body: malformedRequest(status, message).body
      })
    )
    const address = yield* listen(server, options)
    yield* Effect.logInfo(
      `Serving the tables of ${folder.directory} at ${formatUrl(address)}: ${names.length === 0 ? "none yet" : names.join(", ")}`
    )
    return { address }
  })

const formatUrl = ({ address, family, port }: AddressInfo): string =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`
