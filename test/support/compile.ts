/**
 * TypeScript as a strict project has it.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { repository } from "./documents.ts"

/** The configuration of a compiler that overlooks nothing, declarations included. */
export const strictly = (setting: { readonly module: string; readonly moduleResolution: string }): string => {
  const compilerOptions = {
    ...setting,
    target: "es2022",
    lib: ["es2023"],
    types: ["node"],
    typeRoots: [join(repository, "node_modules/@types")],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true
  }
  return JSON.stringify({ compilerOptions })
}

/** What the compiler has to say. */
export const compile = (project: string): string => {
  try {
    return execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", project, "--pretty", "false"], {
      encoding: "utf8"
    })
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
  }
}
