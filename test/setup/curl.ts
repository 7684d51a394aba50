/** The end-to-end tests use curl as a client. */
import { provideProgram } from "./program.ts"

export default () => {
  provideProgram({ name: "curl", executables: ["curl"], package: "curl" })
}
