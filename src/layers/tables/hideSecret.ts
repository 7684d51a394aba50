/**
 * A secret, taken out of text from elsewhere that may repeat it.
 */
import * as Redacted from "effect/Redacted"
import { escape } from "effect/RegExp"

/**
 * Gives text without the secret: as it is, in a URL, in JSON, or in Base64 alone or as the bearer that it was
 * sent as; in any case, because hosts come in small letters.
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
  return (text) => text.replace(pattern, "<apiKey>")
}

/** The last digit before a padding depends on what follows. */
const base64 = (text: string, encoding: "base64" | "base64url"): string => {
  const digits = Buffer.from(text).toString(encoding).replace(/=+$/, "")
  return digits.length % 4 === 0 ? digits : digits.slice(0, -1)
}
