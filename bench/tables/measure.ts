/**
 * One run of each scenario: a table server and a program that saves its tables, both fresh, and the figures of
 * that run.
 */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { type Api, type Process, start } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import { median } from "../statistics.ts"
import { editTable, withFolder } from "./folders.ts"
import type { Fetched, FetchPlan, PeerApi, Requests, TableServerApi, WatcherApi } from "./protocol.ts"

export type Peer = "vitrine" | "airtable" | "download"

export interface Served {
  /** Gives the folder of the tables. */
  readonly source: () => string
  readonly tables: ReadonlyArray<string>
  /** Whether the server enforces the limit of the hosted API, and a peer that can heeds it. */
  readonly limited: boolean
}

interface Setup<A extends Api<A>> {
  readonly server: Process<TableServerApi>
  readonly program: Process<A>
  readonly plan: FetchPlan
}

const withServer =
  <A extends Api<A>>(
    peer: Peer | "watcher",
    { nodeArguments }: Settings,
    { limited, source, tables }: Served
  ) =>
  (run: (setup: Setup<A>) => Promise<Figures>): Promise<Figures> =>
    withFolder(async (directory) => {
      const server = start<TableServerApi>("./tables/tableServer.js", [])
      const program = start<A>(`./tables/peers/${peer}.js`, nodeArguments)
      try {
        const endpointUrl = await server.call("start", { directory: source(), tables, rateLimit: limited })
        return await run({ server, program, plan: { endpointUrl, tables, directory, paced: limited } })
      } finally {
        await Promise.all([program.stop(), server.stop()])
      }
    })

/** A fetch, and the work of the server for it. */
const fetch = async ({
  plan,
  program,
  server
}: Setup<PeerApi>): Promise<Fetched & Omit<Requests, "calls"> & { readonly busy: number }> => {
  const requestsBefore = await server.call("requests")
  const cpuBefore = await server.call("cpu")
  const fetched = await program.call("fetch", plan)
  const cpu = (await server.call("cpu")) - cpuBefore
  const { attachments, pages, refused } = await server.call("requests")
  return {
    ...fetched,
    pages: pages - requestsBefore.pages,
    attachments: attachments - requestsBefore.attachments,
    refused: refused - requestsBefore.refused,
    busy: cpu / fetched.time
  }
}

/** The content of the files of tables. */
const digest = async (directory: string, tables: ReadonlyArray<string>): Promise<string> => {
  const hash = createHash("sha256")
  for (const table of tables) {
    await pipeline(createReadStream(join(directory, `${table}.json`)), hash, { end: false })
  }
  return hash.digest("hex")
}

/** Keyed by the served folder. */
const digests = new Map<string, string>()

/** All programs must save the same. */
const check = async ({ directory }: Fetched, { source, tables }: Served) => {
  const saved = await digest(directory, tables)
  if ((digests.get(source()) ?? saved) !== saved) {
    throw new Error("The programs do not save the same files")
  }
  digests.set(source(), saved)
}

/** Saves tables of records. */
export const list = (peer: Peer, settings: Settings, served: Served): Promise<Figures> =>
  withServer<PeerApi>(
    peer,
    settings,
    served
  )(async (setup) => {
    const fetched = await fetch(setup)
    const { cpu, memory } = await setup.program.call("usage")
    await check(fetched, served)
    const { busy, pages, refused, time } = fetched
    return { time, cpu, memory, pages, refused, busy }
  })

/** Saves tables of a server with the API's limit, until all are saved or the time is over. */
export const limitedList = (
  peer: Peer,
  settings: Settings,
  served: Served,
  { floorMs, timeLimitMs }: { readonly floorMs: number; readonly timeLimitMs: number }
): Promise<Figures> =>
  withServer<PeerApi>(
    peer,
    settings,
    served
  )(async ({ plan, program, server }) => {
    const timeIsUp = new AbortController()
    const time = await Promise.race([
      program.call("fetch", plan).then(({ time }) => time),
      sleep(timeLimitMs, timeLimitMs, { signal: timeIsUp.signal })
    ])
    timeIsUp.abort()
    const { pages, refused } = await server.call("requests")
    return { time, ofFloor: time / floorMs, pages: pages - refused, refused }
  })

/** Saves tables with attachments, and once more. */
export const attachments = (peer: Peer, settings: Settings, served: Served): Promise<Figures> =>
  withServer<PeerApi>(
    peer,
    settings,
    served
  )(async (setup) => {
    const { attachments, busy, time } = await fetch(setup)
    const first = { time, attachments, busy }
    if (peer === "download") {
      return { ...first, ...(await setup.program.call("usage")) }
    }
    const again = await fetch(setup)
    return {
      ...first,
      ...(await setup.program.call("usage")),
      timeAgain: again.time,
      shareAgain: again.time / time,
      attachmentsAgain: again.attachments,
      promotedAgain: again.changed ? 1 : 0
    }
  })

export interface EditsPlan {
  readonly fetchEveryMs: number
  readonly edits: number
  /** Of the table. */
  readonly records: number
}

/** Edits a table again and again, at random times between two fetches. */
export const edits = (
  settings: Settings,
  served: Served,
  { edits, fetchEveryMs, records }: EditsPlan
): Promise<Figures> =>
  withServer<WatcherApi>(
    "watcher",
    settings,
    served
  )(async ({ plan, program }) => {
    await program.call("start", { ...plan, fetchEvery: fetchEveryMs, asks: false })
    await program.call("promoted")
    const waits: Array<number> = []
    for (let edit = 0; edit < edits; edit++) {
      await sleep((fetchEveryMs * edit) / edits)
      const editedAt = Date.now()
      for (const table of served.tables) {
        editTable(served.source(), table, records, edit + 1)
      }
      waits.push((await program.call("promoted")) - editedAt)
    }
    const fetch = await program.call("longestFetch")
    const longest = Math.max(...waits)
    return { median: median(waits), longest, fetch, beyond: longest - fetchEveryMs - fetch }
  })

export interface ChangesPlan extends EditsPlan {
  /** Whether the controller asks what has changed before it fetches. */
  readonly asks: boolean
  /** The time without edits, in which calls are counted. */
  readonly idleMs: number
}

/** Does not edit tables for a while, then edits one table at a time, at random times between two ticks. */
export const changes = (
  settings: Settings,
  served: Served,
  { asks, edits, fetchEveryMs, idleMs, records }: ChangesPlan
): Promise<Figures> =>
  withServer<WatcherApi>(
    "watcher",
    settings,
    served
  )(async ({ plan, program, server }) => {
    /** The number of calls while an effect runs, and its time. */
    const count = async (run: () => Promise<unknown>) => {
      const { calls } = await server.call("requests")
      const startedAt = Date.now()
      await run()
      return { calls: (await server.call("requests")).calls - calls, time: Date.now() - startedAt }
    }
    await program.call("start", { ...plan, fetchEvery: fetchEveryMs, asks })
    await program.call("promoted")
    const idle = await count(() => sleep(idleMs))
    const waits: Array<number> = []
    const editing = await count(async () => {
      for (let edit = 0; edit < edits; edit++) {
        await sleep(fetchEveryMs * (1 + edit / edits))
        const editedAt = Date.now()
        const [table = ""] = served.tables.slice(edit % served.tables.length)
        editTable(served.source(), table, records, edit + 1)
        waits.push((await program.call("promoted")) - editedAt)
      }
    })
    const perMs = idle.calls / idle.time
    const perEdit = (editing.calls - perMs * editing.time) / edits
    const idleCalls = perMs * 3_600_000
    return {
      median: median(waits),
      longest: Math.max(...waits),
      fetch: await program.call("longestFetch"),
      idleCalls,
      editingCalls: idleCalls + 10 * perEdit,
      refused: (await server.call("requests")).refused
    }
  })
