/**
 * What somebody has done: asked about first, and sent with the name that they gave, which this browser remembers.
 */
import { byId, h, now } from "./parts.js"

const tokenInput = byId("token").querySelector("input")
const nameInput = byId("name").querySelector("input")
const untilInput = byId("until").querySelector("input")
const muting = byId("muting").elements

let needsToken = false

/** Whether actions need a token. */
export const setActions = (actions) => {
  needsToken = actions === "token"
}

/**
 * The dialog stays open where it fails, and says why. With `names`, it asks which of them is muted, until when and why; of a hold, it asks
 * when it ends.
 */
export const ask = (label, question, command, names = []) => {
  const isHold = command.type.endsWith(".hold")
  byId("question").textContent = question
  byId("confirm").textContent = label
  byId("problem").textContent = ""
  byId("token").hidden = !needsToken
  byId("muting").hidden = names.length === 0
  byId("until").hidden = !isHold
  untilInput.value = ""
  muting.name.replaceChildren(...names.map(([value, text]) => h("option", { value }, text)))
  tokenInput.value = needsToken ? (sessionStorage.getItem("token") ?? "") : ""
  nameInput.value = localStorage.getItem("name") ?? ""
  byId("confirm").onclick = async (event) => {
    event.preventDefault()
    const more = isHold ? holdFields() : names.length === 0 ? {} : mutingFields()
    byId("problem").textContent = await send({ ...command, ...more })
    if (byId("problem").textContent === "") {
      byId("dialog").close()
    }
  }
  byId("dialog").showModal()
}

byId("cancel").onclick = () => byId("dialog").close()

/** The controller knows the zone of the place. */
const holdFields = () => (untilInput.value === "" ? {} : { until: untilInput.value })

const mutingFields = () => {
  const why = muting.why.value.trim()
  return {
    name: muting.name.value,
    until: new Date(now() + muting.hours.value * 3_600_000).toISOString(),
    ...(why === "" ? {} : { why })
  }
}

/** Gives why it failed; nothing where it did not. The token is kept for as long as this tab is open. */
const send = async (command) => {
  const by = nameInput.value.trim()
  const token = needsToken ? tokenInput.value : undefined
  localStorage.setItem("name", by)
  try {
    const response = await fetch("command", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` })
      },
      body: JSON.stringify({ ...command, ...(by === "" ? {} : { by }) })
    })
    const { error } = await response.json()
    if (error === undefined && token !== undefined) {
      sessionStorage.setItem("token", token)
    }
    return error?.message ?? ""
  } catch (error) {
    return `The controller cannot be reached. ${error.message}`
  }
}
