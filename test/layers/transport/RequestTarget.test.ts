import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as RequestTarget from "../../../src/layers/transport/RequestTarget.ts"

describe("RequestTarget", () => {
  it.each([
    ["/status", "/status"],
    ["/status?", "/status"],
    ["/status?a=/b?c#d", "/status"],
    ["/", "/"],
    ["//status", "//status"],
    ["/status/", "/status/"],
    ["/%73tatus;v=1", "/%73tatus;v=1"],
    ["http://localhost:8710/status?x", "/status"],
    ["HTTPS://user@example.org/a/b", "/a/b"],
    ["http://[::1]/", "/"],
    ["http://localhost", "/"],
    ["http://localhost?/status", "/"]
  ])("has in %j the path %j", (target, path) => {
    expect(RequestTarget.path(target)).toEqual(Option.some(path))
  })

  it.each(["", "*", "status", "http://", "http:///status", "ftp://localhost/status", "?/status"])(
    "finds no path in %j",
    (target) => {
      expect(RequestTarget.path(target)).toEqual(Option.none())
    }
  )
})
