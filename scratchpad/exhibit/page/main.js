/** The exhibit's screen: connects its parts, and writes its state on the root element. */

import { connect } from "/vitrine/preview.js"
import { toExhibit } from "./exhibit.js"
import { screen } from "./render.js"
import { slideShow } from "./slideshow.js"

const source = "exhibit"
const root = document.documentElement
const view = screen((key) => show.go(key))
const show = slideShow(view.feature)

const page = connect({
  load: async (version) => {
    const [objects, settings] = await Promise.all([
      version.table(source, "Objects"),
      version.table(source, "Settings")
    ])
    const exhibit = toExhibit(objects, settings)
    const withPicture = exhibit.objects.filter(({ picture }) => picture !== null)
    const images = await version.preload(withPicture.map(({ picture }) => version.url(source, picture.path)))
    return { exhibit, images: new Map(withPicture.map(({ key }, index) => [key, images[index]])) }
  },
  show: ({ exhibit, images }) => {
    view.swap(exhibit, images)
    show.replace(
      exhibit.objects.map(({ key }) => key),
      exhibit.slideSeconds
    )
  }
})

const report = () => {
  const { connection, problem, version } = page.state
  root.dataset.connection = connection
  root.dataset.version = version?.id ?? ""
  view.status({ connection, problem, version })
}
report()
page.subscribe(report)

addEventListener("keydown", ({ key }) => {
  if (key === "ArrowRight" || key === "ArrowDown") {
    show.step(1)
  } else if (key === "ArrowLeft" || key === "ArrowUp") {
    show.step(-1)
  }
})

// After a touch or a scroll, the visitor gets the time of a whole turn.
for (const sign of ["pointerdown", "wheel", "touchmove"]) {
  addEventListener(sign, show.stay, { passive: true })
}
