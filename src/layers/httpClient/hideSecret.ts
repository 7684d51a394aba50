/**
 * A secret, taken out of text from elsewhere that may repeat it.
 */
import * as Redacted from "effect/Redacted"
import { escape } from "effect/RegExp"

/**
 * Gives text without the secret: as it is, in a URL, in JSON, or in Base64 alone or as the bearer that it was
 * sent as; in any case, because hosts come in small letters; and cut off, where the text ends in the middle of it.
 */
export const hideSecret = (secret: Redacted.Redacted): ((text: string) => string) => {
  const value = Redacted.value(secret)
  const forms = [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    ...[value, `Bearer ${value}`].flatMap((text) => [base64(text, "base64"), base64(text, "base64url")])
  ]
  // The longest first: one form may be the beginning of another.
  const alternatives = forms.sort((a, b) => b.length - a.length).map(escape)
  const pattern = new RegExp(alternatives.join("|"), "gi")
  return (text) => {
    const rest = text.replace(pattern, "<apiKey>")
    const cutOff = Math.max(...forms.map((form) => overlap(rest, form)))
    return cutOff === 0 ? rest : `${rest.slice(0, -cutOff)}<apiKey>`
  }
}

/** Fewer characters than these say nothing. */
const leastTelling = 4

/** How many characters at the end of the text are the beginning of the form; 0 if none are. */
const overlap = (text: string, form: string): number => {
  const end = text.slice(-form.length).toLowerCase()
  const start = form.toLowerCase()
  let length = form.length - 1
  while (length >= leastTelling && !end.endsWith(start.slice(0, length))) length--
  return length < leastTelling ? 0 : length
}

/** The last digit before a padding depends on what follows. */
const base64 = (text: string, encoding: "base64" | "base64url"): string => {
  const digits = Buffer.from(text).toString(encoding).replace(/=+$/, "")
  return digits.length % 4 === 0 ? digits : digits.slice(0, -1)
}
