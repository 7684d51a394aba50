import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { decode } from "../../../src/layers/replica/ReplicaOptions.ts"

const addressOf = (from: string) => {
  const { authorization, url } = Either.getOrThrow(decode({ from })).from
  return [url, authorization === undefined ? undefined : Redacted.value(authorization)]
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString("base64")}`

describe("the address of a replica", () => {
  it("has or has no path", () => {
    expect(addressOf("http://hub:8730")).toEqual(["http://hub:8730/", undefined])
    expect(addressOf("https://cdn.example/museum/")).toEqual(["https://cdn.example/museum/", undefined])
    expect(addressOf("http://[::1]:8730/a/b")).toEqual(["http://[::1]:8730/a/b/", undefined])
  })

  it("may have credentials", () => {
    expect(addressOf("http://user:p%40ss%3A%C3%BC@hub")).toEqual(["http://hub/", basic("user:p@ss:ü")])
    expect(addressOf("http://user@hub")).toEqual(["http://hub/", basic("user:")])
  })

  it.each([
    "",
    "hub:8730",
    "ftp://secret@hub",
    "http://user:secret@hub?a=b",
    "http://user:secret@hub/#a",
    "http://user:secret%zz@hub",
    "http:// secret",
    [],
    ["http://hub"],
    ["http://hub", "secret"],
    { secret: "http://hub" },
    undefined
  ])("is not %j, which is reported once, and not shown", (from) => {
    const error = Option.getOrThrow(Either.getLeft(decode({ from })))
    expect(error.issues).toHaveLength(1)
    expect(error.message).toMatch(/from: (expected the address of a hub: an http or https URL|is required)/)
    expect(error.message).not.toContain("secret")
  })
})

const reportOf = (report: unknown) =>
  Either.map(decode({ from: "http://hub", report }), ({ report }) => report)

describe("the address for reports of a replica", () => {
  it("has or has no path, and a token that is not shown", () => {
    const report = Option.getOrThrow(
      Either.getRight(reportOf({ to: "http://hub:8730", token: "very-secret" }))
    )
    expect(report?.to).toBe("http://hub:8730/")
    expect(report === undefined ? undefined : Redacted.value(report.token)).toBe("very-secret")
    expect(JSON.stringify(report)).not.toContain("very-secret")
    expect(Either.getOrThrow(reportOf({ to: "https://hub/a/b", token: Redacted.make("t") }))?.to).toBe(
      "https://hub/a/b/"
    )
    expect(Either.getOrThrow(reportOf(undefined))).toBeUndefined()
  })

  it.each([
    [{ to: "hub:8730", token: "secret" }, "report.to: expected the address of the content server of a hub"],
    [{ to: "http://user:secret@hub", token: "secret" }, "report.to: expected the address"],
    [{ to: "http://hub?secret", token: "secret" }, "report.to: expected the address"],
    [{ to: "http://hub" }, "report.token: is required"],
    [{ to: "http://hub", token: "" }, 'report.token: expected the token of "reports" at the hub'],
    [{ to: "http://hub", token: "secret token" }, "report.token: expected the token"],
    [{ to: "http://hub", token: "token", secret: 1 }, "report.secret: there is no such key"],
    ["secret", "report: expected an object { to, token }"]
  ])("is not %j, of which nothing is shown", (report, message) => {
    const error = Option.getOrThrow(Either.getLeft(reportOf(report)))
    expect(error.issues).toHaveLength(1)
    expect(error.message).toContain(message)
    expect(error.message.replace("report.secret", "")).not.toContain("secret")
  })
})
