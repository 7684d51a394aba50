/**
 * A controller without Effect, with Vitrine's transport: it publishes the time every second.
 *
 *     npm run build && npx jiti scratchpad/plain-controller.ts
 *     curl -N http://127.0.0.1:8710/events
 *     curl -X POST http://127.0.0.1:8710/command -d '{ "type": "clock.read" }'
 */
import { errAsync, okAsync } from "neverthrow"
import { httpTransport, type PlainContext, type PlainEventHandler } from "vitrine/plain"

const handlers = new Set<PlainEventHandler>()
const eventBus = {
  onAny: (handler: PlainEventHandler) => handlers.add(handler),
  offAny: (handler: PlainEventHandler) => handlers.delete(handler),
  emit: (name: string, payload: unknown) => {
    for (const handler of handlers) handler(name, payload)
  }
}

const stopping = new AbortController()
const system = { startTime: new Date().toISOString(), mode: "persistent" } as const
const context: PlainContext = {
  eventBus,
  logger: { ...console, verbose: console.debug },
  abortSignal: stopping.signal,
  mode: system.mode,
  getStatusSnapshot: () => ({ header: { ...system, uptimeMs: process.uptime() * 1000 }, sections: [] }),
  getGlobalState: () => ({ system, plugins: {}, _version: 0 }),
  updateState: () => {},
  dispatchCommand: ({ type }) => (type === "clock.read" ? okAsync(new Date()) : errAsync(new Error("What?")))
}

const port = Number(process.env.PORT ?? 8710)
const plugin = httpTransport({ port, events: ["clock:*"], allowedCommands: ["clock.read"] })
const transport = await plugin.setup(context)
if (transport.isErr()) throw transport.error

const ticking = setInterval(() => eventBus.emit("clock:tick", new Date()), 1000)
stopping.signal.addEventListener("abort", () => clearInterval(ticking))
process.once("SIGINT", () => stopping.abort("Ctrl-C"))
