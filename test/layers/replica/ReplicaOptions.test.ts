import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { decode, type ReplicaConfig } from "../../../src/layers/replica/ReplicaOptions.ts"

const addressesOf = (from: ReplicaConfig["from"]) =>
  Either.getOrThrow(decode({ from })).from.map(({ authorization, url }) => [
    url,
    authorization === undefined ? undefined : Redacted.value(authorization)
  ])

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString("base64")}`

describe("the addresses of a replica", () => {
  it("are one or several, with a path or without", () => {
    expect(addressesOf("http://hub:8730")).toEqual([["http://hub:8730/", undefined]])
    expect(addressesOf(["https://cdn.example/museum/", "http://[::1]:8730/a/b"])).toEqual([
      ["https://cdn.example/museum/", undefined],
      ["http://[::1]:8730/a/b/", undefined]
    ])
  })

  it("may have credentials", () => {
    expect(addressesOf("http://user:p%40ss%3A%C3%BC@hub")).toEqual([["http://hub/", basic("user:p@ss:ü")]])
    expect(addressesOf("http://user@hub")).toEqual([["http://hub/", basic("user:")]])
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
    ["http://hub", "secret"],
    { secret: "http://hub" },
    undefined
  ])("are not %j, which is reported once, and not shown", (from) => {
    const error = Option.getOrThrow(Either.getLeft(decode({ from })))
    expect(error.issues).toHaveLength(1)
    expect(error.message).toMatch(/from: (expected the address of a hub, an http or https URL|is required)/)
    expect(error.message).not.toContain("secret")
  })
})
