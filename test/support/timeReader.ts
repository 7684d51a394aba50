/**
 * Prints how many times as long a reader takes for texts that are twice as long, in time of the processor. The first
 * text is so long that it takes 50 ms, or has a million characters.
 */
import { readers } from "./readers.ts"

const reader = readers[process.argv[2] ?? ""]
if (reader === undefined) throw new Error(`there is no reader ${process.argv[2]}`)

const maxLength = 1024 * 1024

const once = async (length: number): Promise<number> => {
  const texts = reader.texts.map((text) => text(length))
  const before = process.cpuUsage().user
  for (const text of texts) await reader.read(text)
  return (process.cpuUsage().user - before) / 1000
}

/** The least of three counts: the compiler of the engine and other work only add to it. */
const timeOf = async (length: number): Promise<number> =>
  Math.min(await once(length), await once(length), await once(length))

let length = 16 * 1024
while (length < maxLength && (await once(length)) < 50) length *= 2
const time = await timeOf(length)
process.stdout.write(String((await timeOf(2 * length)) / Math.max(time, 20)))
