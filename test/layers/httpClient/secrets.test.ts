import { expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { hideSecrets, makeSentSecrets } from "../../../src/layers/httpClient/secrets.ts"

/** Expects that every form of the secret is removed, and nothing else, whatever request had it. */
const expectHidden = (secret: string, before: number, cut: number) => {
  const inBase64 = (text: string, encoding: "base64" | "base64url") => Buffer.from(text).toString(encoding)
  for (const hide of [
    hideSecrets("http://a/", { authorization: `Bearer ${secret}` }),
    hideSecrets("http://a/", { authorization: `Basic ${inBase64(`user:${secret}`, "base64")}` }),
    hideSecrets("http://a/", { "x-key": secret }),
    hideSecrets(`http://a/?key=${encodeURIComponent(secret)}`, {}),
    hideSecrets(`http://user:${encodeURIComponent(secret)}@a/`, {})
  ]) {
    for (const form of [
      secret,
      secret.toUpperCase(),
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1)
    ]) {
      expect(hide(`${"\n".repeat(before)}${form}ä`)).toMatch(/^\n*<apiKey>ä$/)
    }
    for (const lead of ["", "a", "ab", "Bearer "]) {
      for (const encoding of ["base64", "base64url"] as const) {
        expect(hide(inBase64(`${lead}${secret}`, encoding))).toMatch(/^[\w+/-]{0,12}<apiKey>[\w=+/-]{0,3}$/)
      }
    }
    expect(hide(`ä${secret.slice(0, secret.length - cut)}…`)).toBe("ä<apiKey>…")
    expect(hide(`ä\n\t ${secret.slice(0, 4)}`)).toBe(`ä\n\t ${secret.slice(0, 4)}`)
  }
}

const secrets = FastCheck.stringMatching(/^[!-[\]-~]{12,40}$/)

it.prop(
  "removes every form of a secret from a text, and nothing else",
  [secrets, FastCheck.nat(2), FastCheck.nat(4)],
  ([secret, before, cut]) => expectHidden(secret, before, cut)
)

it.prop(
  "removes every form of a secret of some thousand characters",
  [secrets, FastCheck.integer({ min: 2000, max: 8000 }), FastCheck.nat(2), FastCheck.nat(4)],
  ([secret, length, before, cut]) =>
    expectHidden(secret.repeat(length / secret.length + 1).slice(0, length), before, cut),
  { fastCheck: { numRuns: 5 } }
)

it("removes a hundred long secrets of a source from a text of backslashes", () => {
  const sent = makeSentSecrets()
  const secret = (index: number) => `token${index}`.padEnd(1000, `\\${index}`)
  for (let index = 0; index < 100; index++) {
    sent.add({ authorization: `Bearer ${secret(index)}` }, [])
  }
  const text = "\\".repeat(10_000)
  expect(sent.hide(`${text}, ${secret(7)}, ${secret(99)}`)).toBe(`${text}, <apiKey>, <apiKey>`)
})

it("removes the whole of the longer secret if another secret is its beginning", () => {
  const sent = makeSentSecrets()
  sent.add({ authorization: "Bearer 0123456789" }, [])
  sent.add({ authorization: "Bearer 0123456789abcdef" }, [])
  expect(sent.hide("0123456789abcdef, 0123456789.")).toBe("<apiKey>, <apiKey>.")
})

it("hides a short secret as it is, and no parts of words with it", () => {
  const hide = hideSecrets("http://a/", { authorization: "Bearer k3y" })
  expect(hide("the k3y of a year, hour by hour: azN5")).toBe("the <apiKey> of a year, hour by hour: azN5")
})

it("keeps text that is no secret", () => {
  const hide = hideSecrets("http://a/?page=1", { accept: "application/json", "accept-language": "de-AT,de" })
  expect(hide("page 1 is no application/json in de-AT,de")).toBe("page 1 is no application/json in de-AT,de")
})
