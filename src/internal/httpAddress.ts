/**
 * Addresses of servers in options.
 */

/** Whether it is an http or https URL without credentials. */
export const isHttpUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { password, protocol, username } = new URL(text)
  return /^https?:$/.test(protocol) && username === "" && password === ""
}

/** As `isHttpUrl`, of an address that others begin with: without query, fragment or white space. */
export const isHttpBase = (text: string): boolean => !/[\s?#]/.test(text) && isHttpUrl(text)
