/**
 * Prints the power of the length with which the time of a reader grows, in time of the processor: 1 if it is in
 * proportion, 2 if a text that is twice as long takes four times as long. The shorter text is so long that it takes
 * 50 ms, or has a quarter of a million characters; the longer one is eight times as long, because a busy machine can
 * double the time of either.
 */
import { readers } from "./readers.ts"

const reader = readers[process.argv[2] ?? ""]
if (reader === undefined) throw new Error(`there is no reader ${process.argv[2]}`)

const maxLength = 256 * 1024

const factor = 8

const once = async (length: number): Promise<number> => {
  const texts = reader.texts.map((text) => text(length))
  const before = process.cpuUsage().user
  for (const text of texts) await reader.read(text)
  return (process.cpuUsage().user - before) / 1000
}

let length = 16 * 1024
while (length < maxLength && (await once(length)) < 50) length *= 2

/** The least of three: the compiler of the engine and other work only add to it. They alternate, so that both meet other work. */
let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
for (let turn = 0; turn < 3; turn++) {
  short = Math.min(short, await once(length))
  long = Math.min(long, await once(factor * length))
}
process.stdout.write(String(Math.log(long / Math.max(short, 5)) / Math.log(factor)))
