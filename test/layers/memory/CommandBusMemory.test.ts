import { layer } from "../../../src/layers/memory/CommandBusMemory.ts"
import { commandBusContract } from "../../services/CommandBus.contract.ts"

commandBusContract("CommandBusMemory", layer)
