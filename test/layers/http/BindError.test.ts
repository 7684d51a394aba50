import { describe, expect, it } from "@effect/vitest"
import { BindError } from "../../../src/layers/http/BindError.ts"

describe("BindError", () => {
  it.each([
    ["EADDRINUSE", /port 8710 is already in use\. Stop .*, or set another "port"/],
    ["EACCES", /may not use port 8710\. Set a "port" above 1023\.$/],
    ["EADDRNOTAVAIL", /no interface "exhibit"\. Set "host" to an address of this machine/],
    ["ENOTFOUND", /no interface "exhibit"\. Set "host"/],
    ["EAI_AGAIN", /no interface "exhibit"\. Set "host"/],
    ["EMFILE", /: too many open files$/]
  ])("says after %s what to do", (code, advice) => {
    const error = new BindError({
      host: "exhibit",
      port: 8710,
      code,
      cause: new Error("too many open files")
    })
    expect(error.message).toMatch(/^Cannot listen on exhibit:8710: /)
    expect(error.message).toMatch(advice)
  })
})
