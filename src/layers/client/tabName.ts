const key = "vitrine"

/** A name for a screen, which this tab keeps when it loads the page again, where it has a storage. */
export const tabName = (): string => {
  const fresh = `screen-${Math.random().toString(36).slice(2, 10)}`
  try {
    const name = sessionStorage.getItem(key) ?? fresh
    sessionStorage.setItem(key, name)
    return name
  } catch {
    return fresh
  }
}
