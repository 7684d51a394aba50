/**
 * The programs that the tests of a project run: found, or installed from Debian's packages, all in one go.
 *
 * Tests of a program that cannot be had are named as skipped; where `CI` is set, none may be missing.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import type { TestProject } from "vitest/node"

interface Program {
  /** What its executable may be called. */
  readonly executables: ReadonlyArray<string>
  /** What it needs beside that, by path. */
  readonly files?: ReadonlyArray<string>
  /** The packages of Debian that have it. */
  readonly packages: ReadonlyArray<string>
}

const programs = {
  chromium: {
    executables: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    packages: ["chromium"]
  },
  Xvfb: { executables: ["Xvfb"], packages: ["xvfb"] },
  firefox: { executables: ["firefox-esr", "firefox"], packages: ["firefox-esr"] },
  curl: { executables: ["curl"], packages: ["curl"] },
  mcs: {
    executables: ["mcs"],
    files: ["/usr/lib/mono/4.5/System.Net.Http.dll", "/usr/lib/mono/4.5/System.Runtime.Serialization.dll"],
    packages: ["mono-mcs", "libmono-system-net-http4.0-cil", "libmono-system-runtime-serialization4.0-cil"]
  },
  nginx: { executables: ["nginx", "/usr/sbin/nginx"], packages: ["nginx-light"] },
  mosquitto: { executables: ["mosquitto", "/usr/sbin/mosquitto"], packages: ["mosquitto"] },
  promtool: { executables: ["promtool"], packages: ["prometheus"] },
  "nats-server": { executables: ["nats-server"], packages: ["nats-server"] },
  python3: { executables: ["python3"], packages: ["python3"] },
  "systemd-analyze": { executables: ["systemd-analyze"], packages: ["systemd"] }
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the executable of each program that the project needs; `null` where there is none. */
    readonly programs: Readonly<Partial<Record<ProgramName, string | null>>>
  }
}

const everyName = Object.keys(programs) as ReadonlyArray<ProgramName>

/** What the projects of a few programs and of vendors need. */
const neededByFew: ReadonlyArray<ProgramName> = ["chromium", "nats-server"]

const find = (name: ProgramName): string | null => {
  const { executables, files = [] }: Program = programs[name]
  const found = executables
    .map((executable) => spawnSync("sh", ["-c", `command -v ${executable}`], { encoding: "utf8" }))
    .find(({ status }) => status === 0)
  return found !== undefined && files.every((file) => existsSync(file)) ? found.stdout.trim() : null
}

const install = (missing: ReadonlyArray<ProgramName>) => {
  console.log(`Installing from Debian's packages: ${missing.join(", ")} …`)
  const privileged = process.getuid?.() === 0 ? [] : ["sudo", "--non-interactive"]
  for (const command of [
    ["apt-get", "update", "-qq"],
    [
      "apt-get",
      "install",
      "-y",
      "-qq",
      "--no-install-recommends",
      ...missing.flatMap((name) => programs[name].packages)
    ]
  ]) {
    const [executable = "", ...rest] = [...privileged, ...command]
    execFileSync(executable, rest, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    })
  }
}

export default (project: TestProject) => {
  const names = project.name === "whole" ? everyName : neededByFew
  const missing = names.filter((name) => find(name) === null)
  if (missing.length > 0) {
    try {
      install(missing)
    } catch (error) {
      const message = `Tests need ${missing.join(", ")}, and installing that failed: ${String(error)}`
      if (process.env.CI) {
        throw new Error(message)
      }
      console.warn(`${message}\nTests that need it are skipped.`)
    }
  }
  project.provide("programs", Object.fromEntries(names.map((name) => [name, find(name)])))
}
