import { expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Redacted from "effect/Redacted"
import { hideSecret } from "../../../src/layers/httpClient/hideSecret.ts"

it.prop(
  "leaves none of the forms of a secret in a text, and nothing else out",
  [FastCheck.stringMatching(/^[!-~]{8,40}$/), FastCheck.nat(2)],
  ([secret, before]) => {
    const hide = hideSecret(Redacted.make(secret))
    const inBase64 = (text: string, encoding: "base64" | "base64url") => Buffer.from(text).toString(encoding)
    for (const form of [
      secret,
      secret.toLowerCase(),
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      inBase64(secret, "base64"),
      inBase64(`Bearer ${secret}`, "base64url")
    ]) {
      expect(hide(`${"\n".repeat(before)}${form}ä`)).toMatch(/^\n*<apiKey>[\w=+/-]{0,3}ä$/)
    }
    for (let length = 4; length < secret.length; length++) {
      expect(hide(`ä${secret.slice(0, length)}`)).toBe("ä<apiKey>")
    }
    expect(hide(`${secret.slice(0, 7)}ä\n\t`)).toBe(`${secret.slice(0, 7)}ä\n\t`)
  }
)
