import { layer } from "../../src/layers/CommandBusMemory.ts"
import { commandBusContract } from "../services/CommandBus.contract.ts"

commandBusContract("CommandBusMemory", layer)
