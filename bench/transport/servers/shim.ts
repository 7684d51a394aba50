/**
 * The transport of the built package as a plugin of a plain controller, with no Effect in it.
 */
import { okAsync } from "neverthrow"
import { httpTransport, type PlainEventHandler } from "vitrine/plain"
import { serve } from "./serve.ts"

serve(async ({ keepAliveMs }) => {
  const handlers = new Set<PlainEventHandler>()
  const system = { startTime: new Date().toISOString(), mode: "persistent" } as const
  const plugin = httpTransport({ port: 0, maxClients: 100_000, keepAliveMs })
  const transport = await plugin.setup({
    eventBus: {
      onAny: (handler) => handlers.add(handler),
      offAny: (handler) => handlers.delete(handler),
      emit: () => {}
    },
    logger: { error: console.error, warn: console.warn, info: () => {}, debug: () => {}, verbose: () => {} },
    abortSignal: new AbortController().signal,
    mode: system.mode,
    getStatusSnapshot: () => ({ header: { ...system, uptimeMs: 0 }, sections: [] }),
    getGlobalState: () => ({ system, plugins: {}, _version: 0 }),
    updateState: () => {},
    dispatchCommand: () => okAsync(null)
  })
  if (transport.isErr()) throw transport.error
  return {
    port: transport.value.address?.port ?? 0,
    publish: (name, payload) => {
      for (const handler of handlers) handler(name, payload)
    }
  }
})
