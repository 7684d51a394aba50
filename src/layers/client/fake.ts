/** Tests a page without a controller: the test gives the content. */
import type { Content } from "./Content.ts"
import { type Options, withNumbers } from "./Options.ts"
import { elementFor } from "./preload.ts"
import { type Exhibit, makeState, type State } from "./state.ts"
import { makeSwap } from "./swap.ts"
import { type Context, type Manifest, makeVersion, type Version } from "./Version.ts"

/**
 * Tables by source id and name.
 *
 * @since 0.1.0
 * @category models
 */
export type FakeContent = Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
  readonly [Source in keyof Content]?: Partial<Content[Source]>
}

/**
 * A content without a controller, for tests of pages.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fake {
  /** Replaces `connect` of `vitrine/client`. Accepts the same options, and uses those that concern the page. */
  readonly connect: <Loaded>(options: Options<Loaded>) => Exhibit<Loaded>

  /** Makes a new version of this content the active one. Resolves as `settled` does. */
  readonly promote: (content: FakeContent) => Promise<void>

  /** Resolves when every exhibit shows the active version, or has a `problem` that says why not, or is offline. */
  readonly settled: () => Promise<void>

  /** Sets the connection. While it is `offline`, exhibits get nothing new. Default: `live`. */
  readonly setConnection: (connection: State<unknown>["connection"]) => void
}

interface Screen {
  readonly look: () => void
  readonly isSettled: () => boolean
}

/** The fake controller, and the pages before it. */
interface Controller {
  active: ReturnType<typeof makeActive>
  connection: State<unknown>["connection"]
  readonly screens: Set<Screen>
  /** Callers that wait until all screens are settled. */
  readonly waiting: Array<() => void>
}

/**
 * A fake of `vitrine/client` with content from the test: `fake({ exhibits: { Objects: [{ id: "1", title: "Bell" }] } })`. The code
 * of the real client loads and shows versions, with `canSwap`, pauses after failures, and signals. Files have addresses without
 * data; `preload` returns elements that load nothing, if there is a `document`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fake = (content: FakeContent): Fake => {
  let count = 0
  const controller: Controller = {
    active: makeActive(content, count),
    connection: "live",
    screens: new Set(),
    waiting: []
  }
  return {
    connect: (options) => connect(controller, options),
    settled: () => settled(controller),
    promote: (content) => {
      count += 1
      controller.active = makeActive(content, count)
      lookAll(controller)
      return settled(controller)
    },
    setConnection: (next) => {
      controller.connection = next
      lookAll(controller)
    }
  }
}

/** The version with this content; `number` counts versions. */
const makeActive = (content: FakeContent, number: number) => {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString()
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

/** A copy by JSON, so that changes by a page do not affect later versions. */
const copyOf = <Value>(value: unknown): Value => JSON.parse(JSON.stringify(value))

const lookAll = ({ screens }: Controller) => {
  for (const { look } of screens) {
    look()
  }
}

const settled = (controller: Controller) =>
  new Promise<void>((resolve) => {
    controller.waiting.push(resolve)
    check(controller)
  })

/** Ends the waiting if all screens are settled. */
const check = ({ screens, waiting }: Controller) => {
  if ([...screens].every(({ isSettled }) => isSettled())) {
    for (const resolve of waiting.splice(0)) {
      resolve()
    }
  }
}

const connect = <Loaded>(controller: Controller, options: Options<Loaded>): Exhibit<Loaded> => {
  const { screens } = controller
  const state = makeState<Loaded>(controller.connection)

  const update = () => {
    if (screens.has(screen)) {
      const { connection } = controller
      const { problem, ...current } = swap.current()
      state.set(connection, {
        ...current,
        problem: connection === "offline" ? "The content cannot be reached: it is offline" : problem
      })
      check(controller)
    }
  }

  const swap = makeSwap({
    ...withNumbers(options),
    content: "",
    changed: update,
    versionOf: (manifest, context) => controller.active.versionOf(manifest, context)
  })

  const screen: Screen = {
    look: () => {
      if (controller.connection !== "offline" && screens.has(screen)) {
        swap.follow(controller.active.manifest)
      }
      update()
    },
    isSettled: () => {
      const { problem, shown } = swap.current()
      const { versionId } = controller.active.manifest
      return (
        controller.connection === "offline" ||
        shown?.version.id === versionId ||
        !!problem?.startsWith(`Version ${versionId} `)
      )
    }
  }
  screens.add(screen)
  // As in the real client, `connect` returns before anything is loaded.
  queueMicrotask(screen.look)
  return state.exhibit(() => {
    swap.end()
    screens.delete(screen)
    check(controller)
  })
}
