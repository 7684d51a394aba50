import { files } from "./files.ts"
import { tryRules } from "./harness.ts"

tryRules(files)
