import { tryRules } from "./harness.ts"
import { polls } from "./polls.ts"

tryRules(polls)
