/**
 * A line between two programs that can be cut: a TCP proxy on its own port.
 */
import { connect, createServer, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** `cut`: connections end, and new ones at once. `silent`: they stay, and nothing comes through. */
export type Condition = "open" | "cut" | "silent"

export interface FlakyLine {
  readonly port: number
  /** Where new connections lead. */
  readonly leadTo: (port: number) => void
  readonly set: (condition: Condition) => void
}

/** A line that lasts as long as the scope. */
export const openFlakyLine = (target = 0): Effect.Effect<FlakyLine, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ends = new Set<Socket>()
    let condition: Condition = "open"
    let port = target

    const carry = (from: Socket, to: Socket) => {
      ends.add(from)
      from.on("data", (bytes) => to.write(bytes))
      from.on("error", () => {})
      from.on("close", () => {
        ends.delete(from)
        to.destroy()
      })
    }
    const server = createServer((near) => {
      if (condition === "cut") {
        near.destroy()
        return
      }
      const far = connect(port, "127.0.0.1")
      carry(near, far)
      carry(far, near)
      if (condition === "silent") {
        near.pause()
      }
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const end of ends) end.destroy()
        })
    )
    const address = server.address()
    return {
      port: typeof address === "object" && address !== null ? address.port : 0,
      leadTo: (next) => {
        port = next
      },
      set: (next) => {
        condition = next
        for (const end of ends) {
          if (next === "cut") end.destroy()
          else if (next === "silent") end.pause()
          else end.resume()
        }
      }
    }
  })
