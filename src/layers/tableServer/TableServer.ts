/**
 * The local table server: a folder of CSV and JSON files, served as the hosted table API would serve them.
 *
 * It owns the two ports and what reaches the log at the start. It writes nothing.
 */
import { randomBytes } from "node:crypto"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as Path from "@effect/platform/Path"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InvalidOptions } from "../../internal/Options.ts"
import { InvalidFault, type TableFolderError, TableServer } from "../../services/TableServer.ts"
import * as HttpServer from "../http/HttpServer.ts"
import { type BindError, type ListenOptions, listen, urlOf } from "../http/listen.ts"
import { malformedRequest } from "./ApiError.ts"
import * as AttachmentFolder from "./attachments/AttachmentFolder.ts"
import { makeSigner } from "./attachments/AttachmentLink.ts"
import * as AttachmentRoutes from "./attachments/attachmentRoutes.ts"
import * as FolderChanges from "./changes/FolderChanges.ts"
import { places } from "./faults/Fault.ts"
import * as Faults from "./faults/Faults.ts"
import * as RateLimit from "./RateLimit.ts"
import * as RequestCounter from "./RequestCounter.ts"
import * as Routes from "./routes.ts"
import {
  decodeTableServerOptions,
  type TableServerInput,
  type TableServerOptions
} from "./TableServerOptions.ts"
import { tableId } from "./tables/identifiers.ts"
import * as TableFolder from "./tables/TableFolder.ts"
import * as Webhooks from "./webhooks/Webhooks.ts"

export type { RequestCounts } from "../../services/TableServer.ts"
export { InvalidFault, type TableFolderError, TableServer, type TableServerInput }

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
    const attachments = yield* AttachmentFolder.make(folder.directory)
    const signer = makeSigner()
    const faults = Faults.make(options.faults)
    const counter = RequestCounter.make()
    const webhooks = yield* Webhooks.make(FolderChanges.make(folder, attachments))
    const attachmentApp = yield* AttachmentRoutes.make({ attachments, counter, faults, signer })
    const attachmentAddress = yield* serve(attachmentApp, {
      host: options.host,
      port: options.attachmentPort
    })
    const lifetimeMs = Duration.toMillis(options.attachmentLinkLifetime)
    const linkTo: Routes.RouteDependencies["linkTo"] = ({ file, hostHeader, id, now }) =>
      urlOf(hostnameOf(hostHeader) ?? attachmentAddress.address, attachmentAddress.port) +
      `${AttachmentRoutes.prefix}/${signer.sign({ file, id, expiresAt: now + lifetimeMs })}`

    yield* warnOfUnknownTables(options.faults, names)

    const issuer = randomBytes(6).toString("hex")
    const app = yield* Routes.make({
      options,
      folder,
      webhooks,
      rateLimit,
      faults,
      counter,
      issuer,
      attachments,
      linkTo
    })
    const address = yield* serve(app, options)
    yield* Effect.logInfo(
      `Serving the tables of ${folder.directory} at ${urlOf(address.address, address.port)}: ${names.length === 0 ? "none yet" : names.join(", ")}`
    )
    return { address, attachmentAddress, faults: faults.control, requests: counter.counts }
  })

/** A table may be added later; one that is misspelt never fails. */
const warnOfUnknownTables = (faults: TableServerOptions["faults"], names: ReadonlyArray<string>) =>
  Effect.forEach(
    faults.filter(({ where }) => ![...places, ...names, ...names.map(tableId)].includes(where)),
    ({ text, where }) =>
      Effect.logWarning(`The fault "${text}" waits for a table "${where}", which is not there.`),
    { discard: true }
  )

/** Serves an application on a port until the scope ends. */
const serve = <R>(app: HttpApp.Default<never, R>, options: ListenOptions) =>
  Effect.gen(function* () {
    const handler = yield* HttpMiddleware.withTracerDisabledWhenEffect(
      NodeHttpServer.makeHandler(app),
      constTrue
    )
    const server = yield* HttpServer.make({
      handler,
      bodyOf: ({ message, status }) => malformedRequest(status, message).body
    })
    server.prependListener("checkContinue", (_request, response) => response.writeContinue())
    return yield* listen(server, options)
  })

/** By which name somebody reached this machine, if that can be read. */
const hostnameOf = (hostHeader: string | undefined): string | undefined =>
  hostHeader !== undefined && URL.canParse(`http://${hostHeader}`)
    ? new URL(`http://${hostHeader}`).hostname
    : undefined
