import { expect, it } from "@effect/vitest"
import { countText, durationText, sizeText } from "../../src/internal/readable.ts"

it("durations have their two largest units", () => {
  expect([0, 999, 59_000, 61_000, 3_600_000, 90_061_000, 30 * 86_400_000].map(durationText)).toEqual([
    "0 s",
    "0 s",
    "59 s",
    "1 min 1 s",
    "1 h",
    "1 d 1 h",
    "30 d"
  ])
})

it("sizes have one decimal, except bytes", () => {
  expect([0, 1, 1023, 1024, 1536, 1024 ** 2, 5 * 1024 ** 4, 1024 ** 5].map(sizeText)).toEqual([
    "0 bytes",
    "1 byte",
    "1023 bytes",
    "1.0 KiB",
    "1.5 KiB",
    "1.0 MiB",
    "5.0 TiB",
    "1024.0 TiB"
  ])
})

it("counts use the singular for one", () => {
  expect([0, 1, 2].map((count) => countText(count, "record"))).toEqual(["0 records", "1 record", "2 records"])
})
