/**
 * Preloaded by a program: its clock is as many milliseconds off as the file `CLOCK` says, which may change.
 */
import { readFileSync } from "node:fs"

const lookMs = 100
const RealDate = Date
let offset = 0
let lookedAt = Number.NEGATIVE_INFINITY

const now = () => {
  if (performance.now() - lookedAt > lookMs) {
    lookedAt = performance.now()
    offset = Number(readFileSync(process.env.CLOCK, "utf8"))
  }
  return RealDate.now() + offset
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }
  static now() {
    return now()
  }
}
