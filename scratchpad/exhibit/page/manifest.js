/**
 * Follows the manifest and hands over whole versions. It owns the poll, which alone decides what is current, and
 * the loading of a version. It knows nothing of the stream (which only makes it look sooner) or of the screen.
 */

import { encodePath } from "./encodePath.js"

const requestLimitMs = 8000

const readJson = async (url) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(requestLimitMs) })
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}`)
  }
  return response.json()
}

/** The manifest, or `null` while nothing has been promoted yet. */
const readManifest = async () => {
  const response = await fetch("/manifest.json", { signal: AbortSignal.timeout(requestLimitMs) })
  if (response.status === 404) {
    return null
  }
  if (!response.ok) {
    throw new Error(`The manifest answered ${response.status}`)
  }
  return response.json()
}

const loadVersion = async ({ schemaVersion, sources, versionId, versionPath }, sourceId) => {
  if (schemaVersion !== 1) {
    throw new Error(`The manifest has schema ${schemaVersion}; this page reads schema 1`)
  }
  const source = sources.find((candidate) => candidate.sourceId === sourceId)
  if (source === undefined) {
    throw new Error(`Version ${versionId} has no source "${sourceId}"`)
  }
  const folder = `/${encodePath(`${versionPath}/${source.path}`)}`
  const [objects, settings] = await Promise.all([
    readJson(`${folder}/Objects.json`),
    readJson(`${folder}/Settings.json`)
  ])
  if (!Array.isArray(objects) || settings === null || typeof settings !== "object") {
    throw new Error(`Version ${versionId} holds no list of objects or no settings`)
  }
  return { versionId, folder, objects, settings }
}

/**
 * Looks at the manifest now and every `everyMs`, and calls `onVersion` with each version that differs from the last
 * one handed over, once its tables are here. A load or an `onVersion` that fails is tried again at the next look, and
 * the console says why, once.
 *
 * `onLook({ reachable, problem })` follows every look; `problem` is `null` or what went wrong, in words.
 * The result is a function that looks at once: call it when there is reason to believe in news.
 */
export const followManifest = ({ everyMs, onLook, onVersion, sourceId }) => {
  let handedOver = null
  let lastProblem = null
  let looking = false
  let lookAgain = false
  let timer

  const look = async () => {
    if (looking) {
      lookAgain = true
      return
    }
    looking = true
    clearTimeout(timer)
    let reachable = false
    let problem = null
    try {
      const manifest = await readManifest()
      reachable = true
      if (manifest !== null && manifest.versionId !== handedOver) {
        await onVersion(await loadVersion(manifest, sourceId))
        handedOver = manifest.versionId
      }
    } catch (error) {
      problem = error.message
    }
    if (problem !== null && problem !== lastProblem) {
      console.warn(`The screen stays as it is: ${problem}`)
    }
    lastProblem = problem
    onLook({ reachable, problem })
    looking = false
    if (lookAgain) {
      lookAgain = false
      look()
    } else {
      timer = setTimeout(look, everyMs)
    }
  }

  look()
  return look
}
