/** What a page shows, as a store that frameworks can subscribe to. */
import type { Current } from "./swap.ts"
import type { Version } from "./Version.ts"

/** How a page stands. It never changes: another one takes its place. */
export interface State<Loaded> {
  /** `live` with an event stream, `polling` without one, `offline` where the content cannot be reached. */
  readonly connection: "live" | "polling" | "offline"

  /** The version on the screen, and what `load` made of it; absent before the first. */
  readonly version?: Version | undefined
  readonly shown?: Loaded | undefined

  /** The id of the version that is to come: it is being loaded, or `canSwap` puts it off. */
  readonly next?: string | undefined

  /**
   * Why the content cannot be reached, what cannot be shown of the version that is to come or of the one on the screen, or why the
   * controller refuses to list the screen.
   */
  readonly problem?: string | undefined

  /** Whether the version on the screen is from the browser's cache, because the page has started without a controller. */
  readonly isCached: boolean
}

/** What `connect` gives: what the page shows, as a store that frameworks can subscribe to. */
export interface Exhibit<Loaded> {
  readonly state: State<Loaded>

  /** Calls the listener after each change of the state, until the function that is returned is called. */
  readonly subscribe: (listener: () => void) => () => void

  /** Ends it: nothing is loaded, shown or acknowledged any more, and the screen is reported as closed. */
  readonly close: () => void
}

const keys = ["connection", "version", "shown", "next", "problem", "isCached"] as const

export const makeState = <Loaded>(connection: State<Loaded>["connection"] = "offline") => {
  let state: State<Loaded> = { connection, isCached: false }
  // An error in a listener stops neither the others nor what goes on here.
  const changes = new EventTarget()
  return {
    get: () => state,
    /** Takes how the versions stand, and calls the listeners, unless nothing is different. */
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
    /** What pages have of it. */
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
