import { tryRules } from "./harness.ts"
import { lists } from "./lists.ts"

tryRules(lists)
