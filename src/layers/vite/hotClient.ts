/**
 * The client of a page in the dev server. It may be evaluated more than once, and shows rejected content.
 */

/** The event with which a page asks for rejected content, and gets it at each change. */
export const rejectedEvent = "vitrine:rejected"

/**
 * The client for modules that are evaluated again when they are edited. Vite disposes only the module that accepts an update; the
 * connections of all others would stay open. So a module that connects closes its connections from before its last edit. The stack
 * identifies the module, with the modules of the project that called it, each with the time of its edit. A stack without addresses, as
 * in a test runner, identifies no module: no connection is closed.
 */
export const hotClient = (file: string) => `
import { connect as open } from ${JSON.stringify(file)}

const opened = new Set()

const callers = () => {
  const [, ...modules] = new Error().stack.match(/https?:\\S+?(?=:\\d+:\\d+)/g) ?? []
  const end = modules.findIndex((module) => /[?&]v=/.test(module))
  return modules.slice(1, end < 0 ? undefined : end).join(" ")
}

export const connect = (options) => {
  const edited = callers()
  const place = edited.replace(/[?&]t=\\d+/g, "")
  for (const before of opened) {
    if (before.place === place && before.edited !== edited) {
      before.exhibit.close()
      opened.delete(before)
    }
  }
  const exhibit = open(options)
  opened.add({ edited, place, exhibit })
  return exhibit
}

const hot = import.meta.hot
if (hot && globalThis.document) {
  const own = "vite-error-overlay.vitrine"
  const show = (message) => {
    const Overlay = customElements.get("vite-error-overlay")
    document.querySelector(own)?.close()
    if (message && Overlay) {
      const overlay = new Overlay({ plugin: "vitrine", message, stack: "" })
      overlay.className = "vitrine"
      document.body.append(overlay)
    }
  }
  hot.on(${JSON.stringify(rejectedEvent)}, show)
  // Vite removes every overlay with an update, and reloads the page if an overlay exists before the first update.
  let before
  hot.on("vite:beforeUpdate", () => {
    before = document.querySelector(own)
    before?.remove()
  })
  hot.on("vite:afterUpdate", () => before && document.body.append(before))
  hot.send(${JSON.stringify(rejectedEvent)})
}
`
