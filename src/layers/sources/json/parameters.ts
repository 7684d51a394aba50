/**
 * The parameters of URLs.
 */

/** A parameter that is a whole number: `undefined` if it is absent, `NaN` if it is another text. */
export const parameterOf = (address: string, name: string): number | undefined => {
  const text = new URL(address).searchParams.get(name)
  return text === null ? undefined : /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** The URL with this parameter, and all others as they stand. */
export const withParameter = (address: string, name: string, value: string): string => {
  const url = new URL(address)
  const others = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has(name))
  url.search = [...others, new URLSearchParams({ [name]: value })].join("&")
  return url.href
}
