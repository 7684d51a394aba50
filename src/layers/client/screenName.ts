/** The name of a screen that has none in its options, and random ids. */

/** The name in the address of the page, or else a random name, which the tab keeps across reloads if it has storage. */
export const screenName = (): string => {
  const given = new URLSearchParams(location.search).get("screen")
  if (given) {
    return given
  }
  const fresh = `screen-${randomId()}`
  try {
    const name = sessionStorage.getItem("vitrine") ?? fresh
    sessionStorage.setItem("vitrine", name)
    return name
  } catch {
    return fresh
  }
}

export const randomId = (): string => Math.random().toString(36).slice(2, 10)
