/**
 * Three servers of NATS in a cluster, whose connections to each other can be cut.
 *
 * Each server reaches each other by a proxy of its own; the address that a server announces of itself leads nowhere, so
 * that there is no way around the proxies.
 */
import { connect, createServer, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import { freePort, startNatsServer } from "./natsServer.ts"

/** Connects whoever comes with a port, unless it is cut. */
const makeProxy = (to: number) =>
  Effect.acquireRelease(
    Effect.async<{
      readonly port: number
      readonly setCut: (isCut: boolean) => void
      readonly close: () => void
    }>((resume) => {
      const sockets = new Set<Socket>()
      let isCut = false
      const track = (socket: Socket, other: Socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          sockets.delete(socket)
          other.destroy()
        })
        socket.pipe(other)
      }
      const server = createServer((socket) => {
        if (isCut) {
          socket.destroy()
          return
        }
        const onward = connect({ host: "127.0.0.1", port: to })
        track(socket, onward)
        track(onward, socket)
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const end = () => {
          for (const socket of sockets) socket.destroy()
        }
        resume(
          Effect.succeed({
            port: typeof address === "object" && address !== null ? address.port : 0,
            setCut: (cut: boolean) => {
              isCut = cut
              if (cut) end()
            },
            close: () => {
              server.close()
              end()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const names = ["one", "two", "three"] as const

/** Servers, each with its URL, and what cuts one off from the others, or joins it to them again. */
export const startNatsCluster = Effect.gen(function* () {
  const servers = yield* Effect.forEach(names, (name) => Effect.map(freePort, (port) => ({ name, port })))
  const links = yield* Effect.forEach(
    servers.flatMap((from) => servers.filter((to) => to !== from).map((to) => ({ from: from.name, to }))),
    ({ from, to }) => Effect.map(makeProxy(to.port), (proxy) => ({ from, to: to.name, proxy }))
  )
  const started = yield* Effect.forEach(servers, ({ name, port }) => {
    const routes = links
      .filter(({ from }) => from === name)
      .map(({ proxy }) => `nats://127.0.0.1:${proxy.port}`)
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
      for (const { from, proxy, to } of links) {
        if (from === name || to === name) proxy.setCut(isCut)
      }
    })
  return { urls: started.map(({ url }) => url), setCut }
})
