import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Below the ports that systems give to outgoing connections, so that none of those takes it while its server is down. */
const belowOutgoing = Random.nextIntBetween(10_000, 32_768)

const listenOnce = (port: number) =>
  Effect.async<number, Error>((resume) => {
    const server = createServer()
      .once("error", (error) => resume(Effect.fail(error)))
      .listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  })

/** A port that a server can have each time it is started. */
export const freePort = belowOutgoing.pipe(
  Effect.flatMap(listenOnce),
  Effect.retry({ times: 100 }),
  Effect.orDie
)
