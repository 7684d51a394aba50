import { assert, describe, it } from "@effect/vitest"
import { isHttpBase, isHttpUrl } from "../../src/internal/optionSchemas.ts"

describe("the address of a server", () => {
  it("is an http or https URL without credentials", () => {
    for (const url of ["https://a.example", "http://localhost:8730/x/", "https://a.example/?q=1#top"]) {
      assert.isTrue(isHttpUrl(url), url)
    }
    for (const url of [
      "",
      "a.example",
      "ftp://a.example",
      "https://me@a.example",
      "https://:word@a.example"
    ]) {
      assert.isFalse(isHttpUrl(url), url)
      assert.isFalse(isHttpBase(url), url)
    }
  })

  it("has no query, fragment or white space if it is the base of other URLs", () => {
    assert.isTrue(isHttpBase("https://a.example/api/"))
    for (const end of ["?q=1", "?", "#top", "#", " ", "\n"]) {
      assert.isFalse(isHttpBase(`https://a.example/${end}`), end)
    }
  })
})
