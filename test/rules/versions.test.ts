import { tryRules } from "./harness.ts"
import { versions } from "./versions.ts"

tryRules(versions)
