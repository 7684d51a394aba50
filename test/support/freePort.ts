import { createServer } from "node:net"
import * as Effect from "effect/Effect"

/** A port that a server can have each time it is started. */
export const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() =>
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    )
  })
})
