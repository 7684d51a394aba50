/**
 * Common handwritten code that publishes from a loop of timers.
 */
import { start } from "./plainServer.ts"
import { serve } from "./serve.ts"

serve(start)
