/** The end-to-end tests run the built command line: it is built anew before they start. */
import { execFileSync } from "node:child_process"

export default () => {
  execFileSync("npm", ["run", "build"], { stdio: ["ignore", "ignore", "inherit"] })
}
