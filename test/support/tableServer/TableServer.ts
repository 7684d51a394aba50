/**
 * The local table server: a folder of CSV and JSON files, served as the hosted table API would serve them.
 *
 * It owns the two ports and what reaches the log at the start. It writes nothing.
 */
import { randomBytes } from "node:crypto"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { InvalidOptions } from "../../../src/internal/Options.ts"
import * as application from "../../../src/layers/http/Application.ts"
import { type BindError, type ListenOptions, listen, urlOf } from "../../../src/layers/http/Listen.ts"
import { hostnameOf } from "../../../src/layers/http/RequestHead.ts"
import * as AttachmentFolder from "./AttachmentFolder.ts"
import { noRequests } from "./apiRequest.ts"
import * as AttachmentRoutes from "./attachmentRoutes.ts"
import * as Faults from "./Faults.ts"
import * as FolderChanges from "./FolderChanges.ts"
import { tableId } from "./identifiers.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Routes from "./routes.ts"
import * as TableFolder from "./TableFolder.ts"
import { decodeTableServerOptions, type TableServerConfig } from "./TableServerOptions.ts"
import { InvalidFault, type TableFolderError, TableServer } from "./TableServerService.ts"
import * as Webhooks from "./Webhooks.ts"

export type { RequestCounts } from "./TableServerService.ts"
export { InvalidFault, type TableFolderError, TableServer, type TableServerConfig }

/** Serves the tables of a folder until the scope ends. A folder that cannot be listed fails it. */
export const layer = (
  options: TableServerConfig
): Layer.Layer<
  TableServer,
  InvalidOptions | BindError | TableFolderError,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(TableServer, make(options))

const make = Effect.fnUntraced(function* (input: TableServerConfig) {
  const options = yield* decodeTableServerOptions(input)
  const folder = yield* TableFolder.make(options.directory)
  const names = yield* folder.names
  const attachments = yield* AttachmentFolder.make(folder.directory)
  const signer = AttachmentRoutes.makeSigner()
  const initialFaults = Arr.getRights(options.faults.map(Faults.parseFault))
  const faults = Faults.make(initialFaults)
  const counts = yield* Ref.make(noRequests)
  const attachmentAddress = yield* serve(
    yield* AttachmentRoutes.make({ attachments, counts, faults, signer }),
    { host: options.host, port: options.attachmentPort }
  )
  const lifetimeMs = Duration.toMillis(options.attachmentLinkLifetime)

  yield* warnOfUnknownTables(initialFaults, names)

  const address = yield* serve(
    Routes.make({
      options,
      folder,
      webhooks: yield* Webhooks.make(FolderChanges.make(folder, attachments)),
      rateLimit: options.rateLimit ? yield* RateLimit.make : RateLimit.unlimited,
      faults,
      counts,
      issuer: randomBytes(6).toString("hex"),
      attachments,
      linkTo: ({ file, hostHeader, id, now }) =>
        urlOf(hostnameOf(hostHeader) ?? attachmentAddress.address, attachmentAddress.port) +
        signer.sign({ file, id, expiresAt: now + lifetimeMs })
    }),
    options
  )
  yield* Effect.logInfo(
    `Serving the tables of ${folder.directory} at ${urlOf(address.address, address.port)}: ${names.length === 0 ? "none yet" : names.join(", ")}`
  )
  return { address, attachmentAddress, faults: faults.control, requests: Ref.get(counts) }
})

/** A table may be added later; one that is misspelt never fails. */
const warnOfUnknownTables = (faults: ReadonlyArray<Faults.Fault>, names: ReadonlyArray<string>) =>
  Effect.forEach(
    faults.filter(({ where }) => ![...Faults.places, ...names, ...names.map(tableId)].includes(where)),
    ({ text, where }) =>
      Effect.logWarning(`The fault "${text}" waits for a table "${where}", which is not there.`),
    { discard: true }
  )

/** Serves routes on a port until the scope ends. */
const serve = Effect.fnUntraced(function* (routes: application.Options["routes"], options: ListenOptions) {
  const server = yield* application.make({ routes, refuse: Option.none, headers: () => ({}) })
  return yield* listen(server, options)
})
