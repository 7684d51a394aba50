/** A preview of a version that visitors do not see yet, or no longer see. */
import { connect as follow } from "./connect.ts"
import { type Options, withNumbers } from "./Options.ts"
import { pollManifest } from "./pollManifest.ts"
import { makeRenewal } from "./renewal.ts"
import { request, withoutSlash } from "./request.ts"
import { type Exhibit, makeState } from "./state.ts"
import { makeSwap } from "./swap.ts"
import type { FileList, Manifest } from "./Version.ts"

/** Milliseconds between reads of the file list. Each read keeps the version on disk for two minutes. */
const keepMs = 60_000

/**
 * As `connect` of `vitrine/client`, and also for pages with `version` in their address: `?version=waiting` shows the version that
 * waits for release, or else the active version; `?version=20261121T093000Z` shows the version with this id.
 *
 * Such a page has a mark, and only reads from the content server. It has no event stream and sends no ack, so that it does not
 * count as a screen, and the browser keeps nothing of it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connect = <Loaded>(options: Options<Loaded>): Exhibit<Loaded> => {
  const version = new URLSearchParams(location.search).get("version")
  return version ? preview(options, version) : follow(options)
}

const preview = <Loaded>(given: Options<Loaded>, asked: string): Exhibit<Loaded> => {
  const life = new AbortController()
  const { signal } = life
  const content = withoutSlash(given.content ?? location.origin)
  const options = { ...withNumbers(given), content, signal }
  const state = makeState<Loaded>()
  const mark = makeMark()
  let isReachable = false
  /** The last manifest. */
  let manifest: Manifest | undefined
  /** Why there is no version to show. */
  let trouble: string | undefined
  let listed: string | undefined
  let listedAt = 0

  const update = () => {
    if (signal.aborted) {
      return
    }
    const current = swap.current()
    const { next, problem = trouble, shown } = current
    state.set(isReachable ? "polling" : "offline", { ...current, problem })
    mark.say(
      `Preview · ${problem ?? (next ? `Version ${next} is loading` : standing(shown?.version.id, manifest))}`
    )
  }

  const swap = makeSwap({ ...options, changed: update })

  const look = async (versionId: string) => {
    const versionPath = `versions/${encodeURIComponent(versionId)}`
    let filesSha256: string | undefined
    const list = await request<FileList>(
      `${content}/${versionPath}/files.json`,
      { cache: "no-cache", signal },
      ({ headers }) => {
        filesSha256 = headers.get("ETag") ?? undefined
      }
    )
    trouble = list ? undefined : `There is no version ${versionId}`
    if (list) {
      listed = versionId
      listedAt = performance.now()
      const sources = list.sources.map(({ sourceId }) => ({ sourceId, path: sourceId }))
      swap.follow({ schemaVersion: 1, versionId, versionPath, filesSha256, sources })
    }
  }

  const poll = pollManifest({
    ...options,
    built: makeRenewal(options).built,
    found: async (found) => {
      isReachable = true
      trouble = undefined
      manifest = found
      const versionId = asked === "waiting" ? (found?.held?.waiting ?? found?.versionId) : asked
      if (!versionId) {
        trouble = "There is no version yet"
      } else if (versionId !== listed || performance.now() - listedAt > keepMs) {
        await look(versionId)
      }
      update()
    },
    failed: (reason) => {
      isReachable = false
      trouble = `The content cannot be reached: ${reason}`
      update()
    }
  })

  for (const event of ["online", "visibilitychange"]) {
    addEventListener(event, poll, { signal })
  }

  return state.exhibit(() => {
    life.abort()
    swap.end()
    mark.remove()
  })
}

/** A line about the version: whether visitors see it. */
const standing = (id: string | undefined, manifest: Manifest | undefined): string => {
  switch (id) {
    case undefined:
      return "Looking for the version"
    case manifest?.held?.waiting:
      return `Version ${id} waits to be released`
    case manifest?.versionId:
      return `Version ${id} is what everybody sees`
    default:
      return `Version ${id} is not what everybody sees`
  }
}

const yellow = "#ffc83d"

/** A frame, and a line at the top, which a click hides until its text changes. Sets styles one by one, because a page may forbid style attributes. Lies outside the body, which pages replace. */
const makeMark = () => {
  const frame = document.createElement("div")
  const line = document.createElement("div")
  Object.assign(frame.style, {
    position: "fixed",
    inset: "0",
    zIndex: "2147483647",
    border: `5px solid ${yellow}`,
    pointerEvents: "none"
  })
  Object.assign(line.style, {
    width: "fit-content",
    maxWidth: "90%",
    pointerEvents: "auto",
    cursor: "pointer",
    margin: "0 auto",
    padding: "2px 14px 7px",
    borderRadius: "0 0 10px 10px",
    background: yellow,
    color: "#1c1400",
    font: "600 clamp(11px, 3vmin, 16px)/1.4 system-ui, sans-serif",
    textAlign: "center",
    overflowWrap: "anywhere"
  })
  line.setAttribute("role", "status")
  line.onclick = () => {
    line.hidden = true
  }
  frame.dataset.vitrine = "preview"
  frame.append(line)
  document.documentElement.append(frame)

  return {
    say: (text: string) => {
      if (line.textContent !== text) {
        line.textContent = text
        line.hidden = false
      }
    },
    remove: () => frame.remove()
  }
}
