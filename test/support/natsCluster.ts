/**
 * Three servers of NATS in a cluster, whose connections to each other can be cut.
 *
 * Each server reaches each other by its own line; the address that a server announces of itself leads nowhere, so
 * that there is no way around the lines.
 */
import * as Effect from "effect/Effect"
import { openFlakyLine } from "./flakyLine.ts"
import { freePort } from "./freePort.ts"
import { startNatsServer } from "./natsServer.ts"

const names = ["one", "two", "three"] as const

/** Servers, each with its URL, and what cuts one off from the others, or joins it to them again. */
export const startNatsCluster = Effect.gen(function* () {
  const servers = yield* Effect.forEach(names, (name) => Effect.map(freePort, (port) => ({ name, port })))
  const links = yield* Effect.forEach(
    servers.flatMap((from) => servers.filter((to) => to !== from).map((to) => ({ from: from.name, to }))),
    ({ from, to }) => Effect.map(openFlakyLine(to.port), (line) => ({ from, to: to.name, line }))
  )
  const started = yield* Effect.forEach(servers, ({ name, port }) => {
    const routes = links
      .filter(({ from }) => from === name)
      .map(({ line }) => `nats://127.0.0.1:${line.port}`)
    return startNatsServer({
      configuration: `server_name: ${name}
cluster {
  name: venue, listen: "127.0.0.1:${port}", advertise: "127.0.0.1:1", no_advertise: true
  routes: ${JSON.stringify(routes)}
}`
    })
  })
  const setCut = (name: (typeof names)[number], isCut: boolean) =>
    Effect.sync(() => {
      for (const { from, line, to } of links) {
        if (from === name || to === name) line.set(isCut ? "cut" : "open")
      }
    })
  return { urls: started.map(({ url }) => url), setCut }
})
