/**
 * The examples for .NET, compiled and run under Mono.
 */
import { execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { pathOf } from "./programs.ts"
import * as Received from "./Received.ts"

const source = (name: string) => fileURLToPath(new URL(`../../scratchpad/dotnet/${name}.cs`, import.meta.url))

const libraries = "-r:System.Net.Http,System.Runtime.Serialization"

/** Compiles a program into a folder, and returns its path. */
export const compileProgram = (name: string, folder: string): string => {
  const program = `${folder}/${name}.exe`
  execFileSync(pathOf("mcs"), [libraries, `-out:${program}`, source(name)])
  return program
}

/** Compiles all of them into one library, as their project file does. */
export const compileLibrary = (names: ReadonlyArray<string>, folder: string): void =>
  void execFileSync(pathOf("mcs"), [
    ...["-langversion:7.2", "-target:library", libraries, `-out:${folder}/Vitrine.dll`],
    ...names.map(source)
  ])

const deadProxy = "http://127.0.0.1:1"

/** Runs a program until the scope ends. */
export const runProgram = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn("mono", [program, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        // The proxy of a museum, which does not know this machine's controller.
        env: { ...process.env, HTTP_PROXY: deadProxy, http_proxy: deadProxy, HTTPS_PROXY: deadProxy }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => ({
      child,
      stdout: Received.from(child.stdout),
      stderr: Received.from(child.stderr)
    }))
  )
