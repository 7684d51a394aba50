/** The state of a page, as a store that frameworks can subscribe to. */
import type { Current } from "./swap.ts"
import type { Version } from "./Version.ts"

/**
 * The state of a page. It is immutable: each change creates a new state.
 *
 * @since 0.1.0
 * @category models
 */
export interface State<Loaded> {
  /** `live` with an event stream, `polling` without, `offline` if the content cannot be reached. */
  readonly connection: "live" | "polling" | "offline"

  /** The version on the screen, and in `shown` the result of its `load`; absent before the first version. */
  readonly version?: Version | undefined
  readonly shown?: Loaded | undefined

  /** The id of the next version: it is loading, or `canSwap` delays it. */
  readonly next?: string | undefined

  /**
   * Why the content cannot be reached, a problem of the next version or of the version on the screen, or why the controller refuses
   * to list the screen.
   */
  readonly problem?: string | undefined

  /** Whether the version on the screen is from the browser's cache, because the page has started without a controller. */
  readonly isCached: boolean
}

/**
 * The result of `connect`: the state of the page, as a store that frameworks can subscribe to.
 *
 * @since 0.1.0
 * @category models
 */
export interface Exhibit<Loaded> {
  readonly state: State<Loaded>

  /** Calls the listener after each change of the state, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void

  /** Ends the connection: nothing more is loaded, shown or acknowledged, and the screen is reported as closed. */
  readonly close: () => void
}

const keys = ["connection", "version", "shown", "next", "problem", "isCached"] as const

export const makeState = <Loaded>(connection: State<Loaded>["connection"] = "offline") => {
  let state: State<Loaded> = { connection, isCached: false }
  // An error in a listener stops neither the other listeners nor the client.
  const changes = new EventTarget()
  return {
    /** Sets the state, and calls the listeners if it has changed. */
    set: (
      connection: State<Loaded>["connection"],
      { next, problem, shown }: Current<Loaded>,
      isCached = false
    ) => {
      const { loaded, version } = shown ?? {}
      const now = { connection, version, shown: loaded, next, problem, isCached }
      if (keys.some((key) => now[key] !== state[key])) {
        state = now
        changes.dispatchEvent(new Event("change"))
      }
    },
    /** The public part of the store. */
    exhibit: (close: () => void): Exhibit<Loaded> => ({
      get state() {
        return state
      },
      subscribe: (listener) => {
        const heard = () => listener()
        changes.addEventListener("change", heard)
        return () => changes.removeEventListener("change", heard)
      },
      close
    })
  }
}
