/** The end-to-end tests use a real browser: Debian's Chromium, installed where there is none. */
import { execFileSync, spawnSync } from "node:child_process"
import { getuid } from "node:process"
import type { TestProject } from "vitest/node"

const candidates = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the browser's executable. */
    readonly chromium: string
  }
}

export default (project: TestProject) => {
  project.provide("chromium", find() ?? install())
}

const find = () =>
  candidates
    .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "")

const install = () => {
  console.log("Chromium is missing and is installed now, from Debian's packages …")
  const privileged = getuid?.() === 0 ? [] : ["sudo", "--non-interactive"]
  for (const command of [
    ["apt-get", "update", "-qq"],
    ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
  ]) {
    const [program = "", ...rest] = [...privileged, ...command]
    execFileSync(program, rest, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    })
  }
  const installed = find()
  if (installed === undefined) {
    throw new Error(
      "The end-to-end tests need Chromium, and it could not be installed. Install it, then run the tests again."
    )
  }
  return installed
}
