import * as Effect from "effect/Effect"
import * as TableSourceClientMemory from "../../../src/layers/tableSource/TableSourceClientMemory.ts"
import { tableSourceClientContract } from "../../services/TableSourceClient.contract.ts"

tableSourceClientContract("TableSourceClientMemory", (options) =>
  Effect.map(TableSourceClientMemory.make(options), (memory) => ({
    ...memory,
    hinderNext: (how) => memory.delayNext(how === "failure" ? "1 second" : "30 seconds")
  }))
)
