import { layer } from "../../src/layers/ReplayBacklogMemory.ts"
import { replayBacklogContract } from "../services/ReplayBacklog.contract.ts"

replayBacklogContract("ReplayBacklogMemory", layer)
