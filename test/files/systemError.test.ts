import { once } from "node:events"
import { createServer } from "node:net"
import { expect, it } from "@effect/vitest"
import { explain } from "../../src/files/systemError.ts"

it("the message for a socket does not contain its generated name", async () => {
  const explained = (name: string) =>
    once(createServer().listen(`/proc/${name}`), "listening").then(() => "", explain)
  const said = await explained("lock-1")
  expect(said).not.toBe("")
  expect(await explained("lock-2")).toBe(said)
})
