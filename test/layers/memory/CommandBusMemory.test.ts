import { layer } from "../../../src/layers/memory/CommandBusMemory.ts"
import { commandBusContract } from "../../../src/testing.ts"

commandBusContract("CommandBusMemory", layer)
