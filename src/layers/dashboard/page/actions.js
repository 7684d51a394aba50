/**
 * The actions of the page: asks for confirmation, and sends the action with the name of the person, which the browser keeps.
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
 * Opens the dialog. If the action fails, the dialog stays open and says why. With `names`, it asks which name to mute, until when
 * and why; for a hold, it asks when the hold ends. With `showPicture`, which gets the response, it asks only for a missing token.
 */
export const ask = (label, question, command, names = [], showPicture = undefined) => {
  const isHold = command.type.endsWith(".hold")
  byId("question").textContent = question
  byId("confirm").textContent = label
  byId("problem").textContent = ""
  byId("token").hidden = !needsToken
  byId("muting").hidden = names.length === 0
  byId("until").hidden = !isHold
  byId("name").hidden = showPicture !== undefined
  untilInput.value = ""
  muting.name.replaceChildren(...names.map(([value, text]) => h("option", { value }, text)))
  tokenInput.value = needsToken ? (sessionStorage.getItem("token") ?? "") : ""
  nameInput.value = localStorage.getItem("name") ?? ""
  let isSending = false
  const confirm = async (event) => {
    event.preventDefault()
    if (isSending) {
      return
    }
    isSending = true
    const more = isHold ? holdFields() : names.length === 0 ? {} : mutingFields()
    const problem = await send({ ...command, ...more }, showPicture)
    isSending = false
    // Another dialog may be open by now.
    if (byId("confirm").onclick === confirm) {
      byId("problem").textContent = problem
      if (problem === "") {
        byId("dialog").close()
      }
    }
  }
  byId("confirm").onclick = confirm
  byId("dialog").showModal()
  if (showPicture !== undefined && (!needsToken || tokenInput.value !== "")) {
    byId("confirm").click()
  }
}

byId("cancel").onclick = () => byId("dialog").close()

/** A local time: the controller knows the time zone of the place. */
const holdFields = () => (untilInput.value === "" ? {} : { until: untilInput.value })

const mutingFields = () => {
  const why = muting.why.value.trim()
  return {
    name: muting.name.value,
    until: new Date(now() + muting.hours.value * 3_600_000).toISOString(),
    ...(why === "" ? {} : { why })
  }
}

/** Returns why the action failed, or an empty text. The token is kept until this tab is closed. */
const send = async (command, showPicture) => {
  const by = nameInput.value.trim()
  const token = needsToken ? tokenInput.value : undefined
  localStorage.setItem("name", by)
  try {
    const path = showPicture === undefined ? "command" : "picture"
    const response = await post(path, { ...command, ...(by === "" ? {} : { by }) }, token)
    const isPicture = showPicture !== undefined && response.ok
    const { error } = isPicture ? await showPicture(response) : await response.json()
    if (token !== undefined && response.status !== 401 && token !== sessionStorage.getItem("token")) {
      sessionStorage.setItem("token", token)
      dispatchEvent(new Event("token"))
    }
    return error?.message ?? ""
  } catch (error) {
    return `The controller cannot be reached. ${error.message}`
  }
}

const post = (path, body, token) =>
  fetch(path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` })
    },
    body: JSON.stringify(body)
  })

/** The response with the last picture of a screen; `undefined` if there is none, or this page may not have it. */
export const lastPicture = async (screen) => {
  const token = needsToken ? sessionStorage.getItem("token") : undefined
  const response =
    token === null ? undefined : await post("picture", { screen, last: true }, token).catch(() => {})
  return response?.ok ? response : undefined
}
