import { tryRules } from "./harness.ts"
import { names } from "./names.ts"

tryRules(names)
