/**
 * The controller of the built package, as its command line runs it.
 */
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { content, type Plugin, tableSource } from "vitrine"
import * as Content from "#dist/layers/fetching/Content.js"
import * as HttpClient from "#dist/layers/httpClient/HttpClientNode.js"
import * as VersionStoreDisk from "#dist/layers/versions/VersionStoreDisk.js"
import { RequestPacing } from "#dist/services/RequestPacing.js"
import { apiKey, baseId, type FetchPlan, type WatchPlan } from "../protocol.ts"

export const platform = Layer.merge(NodeContext.layer, HttpClient.layer)

const sourceId = "exhibits"

const source = (plan: FetchPlan | WatchPlan) =>
  tableSource({
    id: sourceId,
    baseId,
    apiKey,
    endpointUrl: plan.endpointUrl,
    tables: [...plan.tables],
    ...("asks" in plan && plan.asks ? { changes: "webhook" } : {})
  })

export const configuration = (plan: FetchPlan | WatchPlan) => ({
  cwd: plan.directory,
  plugins: [
    plan.paced
      ? content({
          downloadPath: plan.directory,
          sources: [source(plan)],
          ...("fetchEvery" in plan ? { fetchEvery: plan.fetchEvery } : {})
        })
      : unpacedContent(plan)
  ]
})

/** The folder of the tables' files in a version. */
export const tablesOf = (directory: string, versionId: string): string =>
  join(directory, "versions", versionId, sourceId)

/** As `content`, for an API without a limit. */
const unpacedContent = (plan: FetchPlan): Plugin.Plugin => ({
  name: "content",
  issues: [],
  setup: () =>
    Effect.gen(function* () {
      const store = VersionStoreDisk.layer({
        directory: plan.directory,
        keepVersions: 2,
        ackLease: "30 minutes"
      })
      const services = yield* Layer.build(Layer.merge(store, unpaced))
      return yield* Effect.flatMap(source(plan).make, (source) => Content.fromSources({}, [source])).pipe(
        Effect.map(({ start }) => start),
        Effect.provide(services)
      )
    })
})

const unpaced = Layer.succeed(
  RequestPacing,
  RequestPacing.of({ pacer: () => Effect.succeed({ take: Effect.void, hold: () => Effect.void }) })
)
