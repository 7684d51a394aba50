/**
 * Programs for Windows, under Wine.
 */
import { spawn } from "node:child_process"
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { inject } from "vitest"

/** Looks ten times a second until it is there, for two minutes at most; then it says what there was instead. */
export const eventually = <A>(what: string, look: () => A | null | undefined, instead: () => string) =>
  Effect.sync(() => Option.fromNullable(look())).pipe(
    Effect.flatten,
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.timeoutFail({
      duration: "2 minutes",
      onTimeout: () => new Error(`Two minutes were not enough for ${what}. There is:\n${instead()}`)
    }),
    Effect.orDie
  )

/** How Windows names a file of this machine. */
const windowsPath = (path: string) => `Z:${path.replaceAll("/", "\\")}`

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "vitrine-windows-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const programOf = (name: string) => windowsPath(fileURLToPath(new URL(`./${name}`, import.meta.url)))
const preload = programOf("wine.cjs")
const holder = programOf("windowsHolder.cjs")

/** Runs `node.exe …`; it is killed with the scope if it still runs then. */
const runNode = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>> = {}
) {
  const windows = inject("windows")
  // Node under Wine cannot write to pipes.
  const file = join(yield* temporaryFolder, "output.txt")
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const output = openSync(file, "a")
      const started = spawn("wine", [windows.node, "--require", preload, ...args], {
        cwd,
        env: { ...process.env, ...windows.env, NO_COLOR: "1", ...env },
        stdio: ["ignore", output, output]
      })
      closeSync(output)
      return started
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const output = () => readFileSync(file, "utf8")
  const ended = eventually(`the end of ${args.join(" ")}`, () => child.exitCode ?? child.signalCode, output)
  return {
    /** What it has written to standard output and standard error. */
    output,
    /** Waits until that matches, and returns the first group of the match. */
    said: (pattern: RegExp) =>
      Effect.map(
        eventually(String(pattern), () => pattern.exec(output()), output),
        ([, group = ""]) => group
      ),
    /** Ends it as the task manager does. */
    kill: Effect.zipRight(
      Effect.sync(() => child.kill("SIGKILL")),
      ended
    ),
    /** Waits for its end, and returns its exit status. */
    ended
  }
})

/** Holds a file as Excel does: nobody else can open, replace or remove it. It may get new content first. */
export const hold = Effect.fnUntraced(function* (file: string, seconds: number, content = "") {
  const program = yield* runNode([holder, windowsPath(file), String(seconds)], "/", { CONTENT: content })
  yield* program.said(/holds it/)
  return { released: program.said(/has closed it/) }
})

/** A folder for a project, of that name, in a temporary one. */
export const makeProject = Effect.fnUntraced(function* (name = "exhibit") {
  const folder = join(yield* temporaryFolder, name)
  mkdirSync(folder, { recursive: true })
  /** `vitrine …`, which goes on. */
  const run = (...args: ReadonlyArray<string>) =>
    runNode([windowsPath(inject("windows").bin), ...args], folder)
  return {
    folder,
    write: (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content),
    read: (name: string) => readFileSync(join(folder, name), "utf8"),
    list: (name: string) => readdirSync(join(folder, name)),
    run,
    /** Runs `vitrine …` to its end, which is to be a success, and returns what it has written. */
    vitrine: (...args: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const { ended, output } = yield* run(...args)
        const status = yield* ended
        return status === 0
          ? output()
          : yield* Effect.die(new Error(`vitrine ${args.join(" ")}: ${status}\n${output()}`))
      })
  }
})
