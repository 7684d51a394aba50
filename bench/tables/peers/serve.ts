/**
 * The measurement of all programs that save tables.
 */
import { answer } from "../../processes.ts"
import type { Fetched, FetchPlan, PeerApi } from "../protocol.ts"

/** Puts a program under the runner's control. */
export const serve = (fetch: (plan: FetchPlan) => Promise<Omit<Fetched, "time">>) => {
  answer<PeerApi>({
    fetch: async (plan) => {
      const from = performance.now()
      const fetched = await fetch(plan)
      return { ...fetched, time: performance.now() - from }
    },
    usage: () => {
      const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
      return { cpu: (userCPUTime + systemCPUTime) / 1000, memory: maxRSS / 1024 }
    }
  })
}
