/**
 * Lines that count bytes: TCP proxies between the programs.
 */
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { answer } from "../processes.ts"
import type { LinesApi } from "./protocol.ts"

const counts: Array<number> = []

const openLine = async (line: number, target: number): Promise<number> => {
  counts[line] = 0
  const count = (chunk: Buffer) => {
    counts[line] = (counts[line] ?? 0) + chunk.length
  }
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target, noDelay: true })
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      from.on("data", count).pipe(to)
      from.on("error", () => to.destroy())
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

answer<LinesApi>({
  open: ({ lines, port }) => Promise.all(Array.from({ length: lines }, (_, line) => openLine(line, port))),
  bytes: () => counts
})
