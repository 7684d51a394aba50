import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Access from "../../../src/layers/http/RequestHead.ts"

describe("the target of a request", () => {
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
  ])("reads from %j the path %j", (target, path) => {
    expect(Access.pathOf(target)).toEqual(Option.some(path))
  })

  it.each(["", "*", "status", "http://", "http:///status", "ftp://localhost/status", "?/status"])(
    "finds no path in %j",
    (target) => {
      expect(Access.pathOf(target)).toEqual(Option.none())
    }
  )

  /** Pieces that targets are made of, the odd ones more often than not. */
  const piece = FastCheck.oneof(
    FastCheck.constantFrom(..."/ // \\ * [ ] ::1 : @ % %zz ? # . .. status".split(" ")),
    FastCheck.constantFrom(
      ..."http:// https:// HTTP: ftp:// localhost 127.0.0.1 :99999 xn-- \xff".split(" ")
    ),
    FastCheck.string({ maxLength: 3 })
  )
  const target = FastCheck.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))

  it.prop("has a path if it can be a URL, and none otherwise", [target], ([target]) => {
    const parse = () => new URL(target, "http://127.0.0.1")
    if (Access.isReadable(target)) {
      expect(parse).not.toThrow()
    } else {
      expect(parse).toThrow()
      expect(Access.pathOf(target)).toEqual(Option.none())
    }
  })

  it.each([
    "//",
    "///",
    "/\\",
    "//[::1",
    "//a:b/",
    "http://[::1",
    "http://",
    "http://a:99999/",
    "http://%00/",
    "https://a b/"
  ])("cannot read %j", (target) => {
    expect(Access.isReadable(target)).toBe(false)
    expect(Access.pathOf(target)).toEqual(Option.none())
  })

  it("reads a target beyond ASCII the same before and after JIT compilation", () => {
    for (let call = 0; call < 50_000; call++) {
      if (!Access.isReadable("http://\xffA")) throw new Error(`not readable at call ${call}`)
    }
  })
})
