/**
 * Machines with their own network, on Linux, where this user may make network namespaces: they reach one another by a
 * switch, whose cables can be pulled, and nothing else.
 */
import { execFileSync } from "node:child_process"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const ip = (...args: ReadonlyArray<string>) =>
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] })

const add = (name: string) => {
  ip("netns", "add", name)
  ip("-n", name, "link", "set", "lo", "up")
}

const remove = (name: string) => ip("netns", "delete", name)

/** Whether this user may make network namespaces, and bridges in them: root may, outside of most containers. */
export const mayIsolate = (() => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return false
  }
  const name = `vitrine-${process.pid}-try`
  try {
    add(name)
  } catch {
    return false
  }
  try {
    ip("-n", name, "link", "add", "switch", "type", "bridge")
    return true
  } catch {
    return false
  } finally {
    remove(name)
  }
})()

export interface IsolatedMachine {
  readonly address: string
  /** What starts a program on it. */
  readonly by: ReadonlyArray<string>
  readonly pullCable: Effect.Effect<void>
  readonly plugCable: Effect.Effect<void>
  /** Lets it receive so many bits in a second at most. */
  readonly slowCable: (bits: number) => Effect.Effect<void>
  /** As fast as before. */
  readonly fastCable: Effect.Effect<void>
}

const namespace = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const own = `vitrine-${process.pid}-${name}`
      add(own)
      return own
    }),
    (own) => Effect.sync(() => remove(own))
  )

/** A switch, and what connects a machine of this name with it; all of it is removed with the scope. */
export const makeNetwork: Effect.Effect<
  { readonly connect: (name: string) => Effect.Effect<IsolatedMachine, never, Scope.Scope> },
  never,
  Scope.Scope
> = Effect.map(namespace("switch"), (hall) => {
  ip("-n", hall, "link", "add", "switch", "type", "bridge")
  ip("-n", hall, "link", "set", "switch", "up")
  let machines = 0
  return {
    connect: (name: string) =>
      Effect.map(namespace(name), (own) => {
        machines += 1
        const address = `10.77.0.${machines}`
        const port = `port${machines}`
        const cable = (state: "up" | "down") =>
          Effect.sync(() => void ip("-n", hall, "link", "set", port, state))
        const queueing = (action: string, ...how: ReadonlyArray<string>) =>
          execFileSync("tc", ["-n", hall, "qdisc", action, "dev", port, "root", ...how])
        ip("-n", hall, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", own)
        ip("-n", hall, "link", "set", port, "master", "switch", "up")
        ip("-n", own, "address", "add", `${address}/24`, "dev", "eth0")
        ip("-n", own, "link", "set", "eth0", "up")
        return {
          address,
          by: ["ip", "netns", "exec", own],
          pullCable: cable("down"),
          plugCable: cable("up"),
          slowCable: (bits) =>
            Effect.sync(() => queueing("replace", "tbf", "rate", `${bits}`, "burst", "4kb", "latency", "1s")),
          fastCable: Effect.sync(() => queueing("delete"))
        }
      })
  }
})
