import { layer } from "../../../src/layers/memory/ReplayBacklogMemory.ts"
import { replayBacklogContract } from "../../services/ReplayBacklog.contract.ts"

replayBacklogContract("ReplayBacklogMemory", layer)
