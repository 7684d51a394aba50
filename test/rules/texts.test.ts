import { tryRules } from "./harness.ts"
import { texts } from "./texts.ts"

tryRules(texts)
