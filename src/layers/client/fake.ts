/** A page without a controller: its test is in the place of it. */
import type { Content } from "./Content.ts"
import { withNumbers } from "./numbers.ts"
import type { Options } from "./Options.ts"
import { elementFor } from "./preload.ts"
import { type Exhibit, makeState, type State } from "./state.ts"
import { makeSwap } from "./swap.ts"
import { type Context, type Manifest, makeVersion, type Version } from "./Version.ts"

/** Tables by their names, by the id of their source. */
export type FakeContent = Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
  readonly [Source in keyof Content]?: Partial<Content[Source]>
}

export interface Fake {
  /** In the place of `connect` of `vitrine/client`. It takes the same options, of which it needs those of the page. */
  readonly connect: <Loaded>(options: Options<Loaded>) => Exhibit<Loaded>

  /** Makes a new version of this content the active one. Resolves as `settled` does. */
  readonly promote: (content: FakeContent) => Promise<void>

  /** Resolves when every exhibit shows the active version, or has the reason why it cannot as its `problem`, or is offline. */
  readonly settled: () => Promise<void>

  /** While it is `offline`, nothing new reaches the exhibits. Default: `live`. */
  readonly setConnection: (connection: State<unknown>["connection"]) => void
}

interface Screen {
  readonly look: () => void
  readonly isSettled: () => boolean
}

/** As JSON has it: what a page changes in its own is not in the next one. */
const copyOf = <Value>(value: unknown): Value => JSON.parse(JSON.stringify(value))

/**
 * A fake of `vitrine/client` with content that the test gives: `fake({ exhibits: { Objects: [{ id: "1", title: "Bell" }] } })`. Versions
 * are loaded and shown as by the real one, by its own code: `canSwap`, failures and their pauses, signals. Files have addresses, with
 * nothing behind them; `preload` gives elements that load nothing by themselves, where there is a `document`.
 */
export const fake = (content: FakeContent): Fake => {
  const screens = new Set<Screen>()
  /** Those who wait until all screens are settled. */
  let waiting: Array<() => void> = []
  let connection: State<unknown>["connection"] = "live"
  let count = 0

  const makeActive = (content: FakeContent) => {
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, count++)).toISOString()
    const versionId = time.replace(/-|:|\.\d+/g, "")
    const sources = Object.keys(content).map((id) => ({ sourceId: id, path: id }))
    const manifest: Manifest = { schemaVersion: 1, versionId, versionPath: `versions/${versionId}`, sources }
    const versionOf = (_: Manifest, context: Context): Version => ({
      ...makeVersion(manifest, context),
      table: async <Table>(source: string, name: string) => {
        const tables = new Map(Object.entries(content)).get(source) ?? {}
        const table = new Map(Object.entries(tables)).get(name)
        if (table === undefined) {
          throw new Error(`there is no table "${name}" in "${source}"`)
        }
        return copyOf<Table>(table)
      },
      preload: async (urls) => urls.map((src) => Object.assign(elementFor(src), { src }))
    })
    return { manifest, versionOf }
  }

  let active = makeActive(content)

  const check = () => {
    if ([...screens].every(({ isSettled }) => isSettled())) {
      const resolved = waiting
      waiting = []
      for (const resolve of resolved) {
        resolve()
      }
    }
  }

  const settled = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      check()
    })

  const connect = <Loaded>(options: Options<Loaded>): Exhibit<Loaded> => {
    const state = makeState<Loaded>(connection)

    const update = () => {
      if (screens.has(screen)) {
        const { problem, ...current } = swap.current()
        const isOffline = connection === "offline"
        state.set(connection, {
          ...current,
          problem: isOffline ? "The content cannot be reached: it is offline" : problem
        })
        check()
      }
    }

    const swap = makeSwap({
      ...withNumbers(options),
      content: "",
      changed: update,
      versionOf: (manifest, context) => active.versionOf(manifest, context)
    })

    const screen: Screen = {
      look: () => {
        if (connection !== "offline" && screens.has(screen)) {
          swap.follow(active.manifest)
        }
        update()
      },
      isSettled: () => {
        const { problem, shown } = swap.current()
        const { versionId } = active.manifest
        return (
          connection === "offline" ||
          shown?.version.id === versionId ||
          !!problem?.startsWith(`Version ${versionId} `)
        )
      }
    }
    screens.add(screen)
    // As the real one: what `connect` returns is there before anything is loaded.
    queueMicrotask(screen.look)
    return state.exhibit(() => {
      swap.end()
      screens.delete(screen)
      check()
    })
  }

  const lookAll = () => {
    for (const { look } of screens) {
      look()
    }
  }

  return {
    connect,
    settled,
    promote: (content) => {
      active = makeActive(content)
      lookAll()
      return settled()
    },
    setConnection: (next) => {
      connection = next
      lookAll()
    }
  }
}
