import * as Effect from "effect/Effect"
import { TableSourceClientMemory, tableSourceClientContract } from "../src/testing.ts"

const waits = { pause: 1000, penalty: 30_000 } as const

tableSourceClientContract(
  "TableSourceClientMemory",
  (options) =>
    Effect.map(TableSourceClientMemory.make(options), (memory) => ({
      ...memory,
      delayNext: (reason) => memory.delayNext(reason === "pause" ? waits.pause : waits.penalty)
    })),
  { waits }
)
