/** Warns once in the console until the problem ends. Returns the text. */
export const makeWarnOnce = () => {
  let last: string | undefined
  return (text?: string) => {
    if (text && !last) {
      console.warn(text)
    }
    last = text
    return text
  }
}
