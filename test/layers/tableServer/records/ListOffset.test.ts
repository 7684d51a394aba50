import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import {
  decodeOffset,
  encodeOffset,
  offsetLifetimeMs
} from "../../../../src/layers/tableServer/records/ListOffset.ts"

const identifier = FastCheck.stringMatching(/^[a-zA-Z0-9]{1,20}$/)
const offset = FastCheck.record({
  issuer: identifier,
  tableId: identifier,
  issuedAt: FastCheck.integer({ min: 0, max: 4e12 }),
  index: FastCheck.nat()
})

describe("ListOffset", () => {
  it.prop(
    "is good for its table and server while it is fresh",
    [offset, FastCheck.nat(offsetLifetimeMs)],
    ([given, age]) => {
      const decoded = decodeOffset(encodeOffset(given), { ...given, issuedAt: given.issuedAt + age })
      assert.deepStrictEqual(decoded, Either.right(given.index))
    }
  )

  it.prop("is good for nothing else", [offset, identifier], ([given, other]) => {
    FastCheck.pre(other !== given.issuer && other !== given.tableId)
    const text = encodeOffset(given)
    const elsewhere = [
      { ...given, issuer: other },
      { ...given, tableId: other },
      { ...given, issuedAt: given.issuedAt + offsetLifetimeMs + 1 }
    ]
    for (const here of elsewhere) {
      assert.isTrue(Either.isLeft(decodeOffset(text, here)))
    }
  })

  it.prop("is never made of other text", [offset, FastCheck.string()], ([given, garbage]) => {
    for (const text of [
      garbage,
      `${encodeOffset(given)}${garbage || "="}`,
      encodeOffset(given).replaceAll("+", " ")
    ]) {
      assert.isTrue(Either.isLeft(decodeOffset(text, given)))
    }
  })

  it.prop("holds what an unencoded query would break", [offset], ([given]) => {
    for (const character of "/+=&") {
      assert.include(encodeOffset(given), character)
    }
  })
})
