/** The end-to-end tests run the built command line: it is built anew before they start, except where `BUILT` is set. */
import { execFileSync } from "node:child_process"

export default () => {
  if (process.env.BUILT) return
  execFileSync("npm", ["run", "build"], { stdio: ["ignore", "ignore", "inherit"] })
}
