/** The exhibit's screen: puts its parts together and says of itself, on the root element, how it is. */

import { keepAcknowledging } from "./acks.js"
import { toExhibit } from "./exhibit.js"
import { followManifest } from "./manifest.js"
import { loadPictures } from "./pictures.js"
import { screen } from "./render.js"
import { slideShow } from "./slideshow.js"
import { followStream } from "./stream.js"

const root = document.documentElement
const acks = keepAcknowledging()
const view = screen((key) => show.go(key))
const show = slideShow(view.feature)
const state = { streaming: false, reachable: false, problem: null, versionId: null }

const connectionOf = ({ reachable, streaming }) => {
  if (streaming) {
    return "live"
  }
  return reachable ? "polling" : "offline"
}

const update = (changes) => {
  Object.assign(state, changes)
  const { problem, reachable, versionId } = state
  const connection = connectionOf(state)
  root.dataset.connection = connection
  view.status({ connection, versionId, problem: reachable ? problem : null })
}

/** A version is shown as a whole or not at all: nothing on the screen changes before its last picture is here. */
const swap = async (version) => {
  const exhibit = toExhibit(version)
  const pictures = await loadPictures(exhibit.objects)
  view.swap(exhibit, pictures)
  show.replace(
    exhibit.objects.map(({ key }) => key),
    exhibit.slideSeconds
  )
  root.dataset.version = version.versionId
  update({ versionId: version.versionId })
  acks.shown(version.versionId)
}

const lookNow = followManifest({ sourceId: "exhibit", everyMs: 4000, onVersion: swap, onLook: update })

followStream({
  onOpen: () => {
    update({ streaming: true })
    lookNow()
    acks.again()
  },
  onLost: () => update({ streaming: false }),
  onPromoted: lookNow
})

addEventListener("keydown", ({ key }) => {
  if (key === "ArrowRight" || key === "ArrowDown") {
    show.step(1)
  } else if (key === "ArrowLeft" || key === "ArrowUp") {
    show.step(-1)
  }
})
