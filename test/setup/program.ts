/** A program that tests run: found, or installed from Debian's packages where there is none. */
import { execFileSync, spawnSync } from "node:child_process"
import { getuid } from "node:process"

export interface Program {
  /** As messages name it. */
  readonly name: string
  /** What its executable may be called. */
  readonly executables: ReadonlyArray<string>
  /** The package of Debian that has it. */
  readonly package: string
}

/** Gives the path of its executable. */
export const provideProgram = (program: Program): string => find(program) ?? install(program)

const find = ({ executables }: Program) =>
  executables
    .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "")

const install = (program: Program) => {
  console.log(`${program.name} is missing and is installed now, from Debian's packages …`)
  const privileged = getuid?.() === 0 ? [] : ["sudo", "--non-interactive"]
  for (const command of [
    ["apt-get", "update", "-qq"],
    ["apt-get", "install", "-y", "-qq", "--no-install-recommends", program.package]
  ]) {
    const [executable = "", ...rest] = [...privileged, ...command]
    execFileSync(executable, rest, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    })
  }
  const installed = find(program)
  if (installed === undefined) {
    throw new Error(
      `The end-to-end tests need ${program.name}, and it could not be installed. Install it, then run the tests again.`
    )
  }
  return installed
}
