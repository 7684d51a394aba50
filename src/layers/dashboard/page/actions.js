/**
 * What somebody has done: asked about first, and sent with the name that they gave, which this browser remembers.
 */
import { byId } from "./parts.js"

const tokenInput = byId("token").querySelector("input")
const nameInput = byId("name").querySelector("input")

let needsToken = false

/** Whether actions need a token. */
export const setActions = (actions) => {
  needsToken = actions === "token"
}

/** The dialog stays open where it fails, and says why. */
export const ask = (label, question, command) => {
  byId("question").textContent = question
  byId("confirm").textContent = label
  byId("problem").textContent = ""
  byId("token").hidden = !needsToken
  tokenInput.value = needsToken ? (sessionStorage.getItem("token") ?? "") : ""
  nameInput.value = localStorage.getItem("name") ?? ""
  byId("confirm").onclick = async (event) => {
    event.preventDefault()
    byId("problem").textContent = await send(command)
    if (byId("problem").textContent === "") {
      byId("dialog").close()
    }
  }
  byId("dialog").showModal()
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
