/**
 * Loaded before a controller (`--import`): its disk answers late or not at all, and its clocks are ahead, as the file MACHINE says.
 */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const { MACHINE = "" } = process.env
const disk = `${process.cwd()}/downloads`
const read = fs.readFileSync
const wall = Date.now
const monotonic = process.hrtime.bigint

let [slowMs, aheadMs] = [0, 0]
const look = () => {
  try {
    ;({ slowMs, aheadMs } = JSON.parse(read(MACHINE, "utf8")))
  } catch {}
}
look()
setInterval(look, 50).unref()

process.hrtime.bigint = () => monotonic() + BigInt(aheadMs) * 1_000_000n
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [wall() + aheadMs] : given))
  }
  static now() {
    return wall() + aheadMs
  }
}

/** Goes on when the disk has answered: after `slowMs`, or when the disk is fast again. */
const answered = (path, goOn) => {
  const from = wall()
  const wait = () => (wall() - from < slowMs ? setTimeout(wait, 50) : goOn())
  return `${path}`.startsWith(disk) ? wait() : goOn()
}

const names = [
  "access",
  "lstat",
  "open",
  "readdir",
  "readFile",
  "readlink",
  "realpath",
  "rename",
  "stat",
  "statfs",
  "utimes"
]
for (const name of names) {
  const call = fs[name]
  fs[name] = Object.assign((path, ...rest) => void answered(path, () => call(path, ...rest)), call)
  const promised = fs.promises[name]
  fs.promises[name] = async (path, ...rest) => {
    await new Promise((resolve) => answered(path, resolve))
    return promised(path, ...rest)
  }
}
syncBuiltinESMExports()
