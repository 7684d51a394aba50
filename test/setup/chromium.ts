/** The end-to-end tests use a real browser. */
import type { TestProject } from "vitest/node"
import { provideProgram } from "./program.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the browser's executable. */
    readonly chromium: string
  }
}

export default (project: TestProject) => {
  project.provide(
    "chromium",
    provideProgram({
      name: "Chromium",
      executables: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
      package: "chromium"
    })
  )
}
