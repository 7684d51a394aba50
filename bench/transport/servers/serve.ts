/**
 * The common part of all servers under test: publishing and reporting.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { answer } from "../../processes.ts"
import {
  liveEvent,
  livePayload,
  type PublishPlan,
  replayedEvent,
  replayedPayload,
  type ServerApi,
  type ServerOptions
} from "../protocol.ts"

export interface Server {
  readonly port: number
  readonly publish: (name: string, payload: unknown) => void | Promise<void>
  /** Publishes as programs of its kind do. Default: in a loop of timers. */
  readonly publishAll?: (plan: PublishPlan) => Promise<void>
}

/** Without this, the kernel would refuse some of a thousand simultaneous connections, and their clients retry after a second. */
export const listenOptions = { port: 0, host: "127.0.0.1", backlog: 4096 }

const startedAt = Date.now()

/** As many bytes as the transport's own answer to `GET /status`, made again for each request. */
export const status = (clients: number) => ({
  header: {
    startTime: new Date(startedAt).toISOString(),
    uptimeMs: Date.now() - startedAt,
    mode: "persistent"
  },
  sections: [
    {
      name: "http-transport",
      order: 20,
      title: "HTTP transport",
      rows: [
        { type: "kv", label: "Address", value: "http://127.0.0.1:40000" },
        { type: "kv", label: "Event streams", value: `${clients} of 100000, 0 at most so far`, tone: "ok" },
        { type: "kv", label: "Events forwarded", value: "1" },
        {
          type: "kv",
          label: "Missed by clients",
          value: "0 frames, 0 clients disconnected",
          tone: "ok"
        },
        { type: "kv", label: "Last event", value: `${replayedEvent} at ${new Date(startedAt).toISOString()}` }
      ]
    }
  ]
})

/** Runs a server under the runner's control. The first call is `start`. */
export const serve = (start: (options: ServerOptions) => Promise<Server>) => {
  let publish: Server["publish"]
  let publishAll: NonNullable<Server["publishAll"]> = async ({ events, intervalMs }) => {
    const from = performance.now()
    for (let sent = 0; sent < events; sent++) {
      const wait = from + sent * intervalMs - performance.now()
      if (wait > 0) {
        await sleep(wait)
      }
      publish(liveEvent, livePayload())
    }
  }
  answer<ServerApi>({
    start: async (options) => {
      const server = await start(options)
      publish = server.publish
      publishAll = server.publishAll ?? publishAll
      await publish(replayedEvent, replayedPayload)
      return server.port
    },
    publish: (plan: PublishPlan) => publishAll(plan),
    cpu: () => {
      const { system, user } = process.cpuUsage()
      return user + system
    },
    rss: async () => {
      globalThis.gc?.()
      await sleep(200)
      globalThis.gc?.()
      return process.memoryUsage.rss()
    }
  })
}
