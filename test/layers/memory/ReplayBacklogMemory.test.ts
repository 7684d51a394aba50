import { layer } from "../../../src/layers/memory/ReplayBacklogMemory.ts"
import { replayBacklogContract } from "../../../src/testing.ts"

replayBacklogContract("ReplayBacklogMemory", layer)
