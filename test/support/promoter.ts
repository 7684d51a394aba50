/**
 * A controller in a process of its own that promotes without end (`promoter.mjs`), and what its downloads hold.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Received from "./Received.ts"

export interface Promoter {
  readonly pid: number | undefined
  /** Waits until it can start in an instant. */
  readonly ready: Effect.Effect<void>
  readonly go: Effect.Effect<void>
  /** Waits until it holds the downloads, and tells what it found in the staging folder then. */
  readonly started: Effect.Effect<ReadonlyArray<string>>
  /** Waits until it has started, or not, and tells which: `started`, or why not. */
  readonly outcome: Effect.Effect<string>
  /** Waits until it has announced so many versions, the one that it found included. */
  readonly promoted: (count: number) => Effect.Effect<void>
  /** Ends it on the spot, as a loss of power does, and waits for its end. */
  readonly kill: Effect.Effect<void>
  /** Everything that it has said. */
  readonly output: Effect.Effect<string>
}

const program = fileURLToPath(new URL("promoter.mjs", import.meta.url))

/** The process; `temporary` is its folder for temporary files. It is killed with the scope at the latest. */
export const startPromoter = (
  downloads: string,
  temporary: string
): Effect.Effect<Promoter, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [program, downloads], {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const said = Received.make()
      child.stdout.on("data", said.append)
      child.stdin.on("error", () => {})
      const end = new Promise<void>((resolve) =>
        child.once("close", () => {
          said.end()
          resolve()
        })
      )
      return {
        pid: child.pid,
        ready: Effect.asVoid(said.until((text) => text.includes("ready\n"))),
        go: Effect.sync(() => void child.stdin.write("go\n")),
        started: Effect.map(
          said.until((text) => startedLine.test(text)),
          stagingOf
        ),
        outcome: Effect.map(
          said.until((text) => outcomeLine.test(text)),
          (text) => outcomeLine.exec(text)?.[1] ?? ""
        ),
        promoted: (count) =>
          Effect.asVoid(said.until((text) => text.split("content:version:promoted").length > count)),
        kill: Effect.suspend(() => {
          child.kill("SIGKILL")
          return Effect.promise(() => end)
        }),
        output: Effect.sync(said.text)
      }
    })
  )

const outcomeLine = /^(started|failed .*)/m
const startedLine = /^started (.*)$/m
const decodeNames = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Schema.String)))

/** What a promoter that said this had found in its staging folder; nothing where it had not come so far. */
export const stagingOf = (output: string): ReadonlyArray<string> =>
  decodeNames(startedLine.exec(output)?.[1] ?? "[]")

const Checksums = Schema.parseJson(
  Schema.Struct({ count: Schema.Number, files: Schema.Record({ key: Schema.String, value: Schema.String }) })
)

export interface PromotedVersion {
  /** Counts up from version to version. */
  readonly count: number
  /** Absolute paths. */
  readonly files: ReadonlyArray<string>
}

/** Reads a version; dies unless all that its sources say to be there is there, is right, and is all there is. */
export const readPromoted = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const files: Array<string> = []
  const counts = new Set<number>()
  for (const source of ["objects", "rooms"]) {
    const checksums = yield* Schema.decode(Checksums)(
      yield* fs.readFileString(`${folder}/${source}/checksums.json`)
    )
    counts.add(checksums.count)
    const there = (yield* fs.readDirectory(`${folder}/${source}`, { recursive: true })).toSorted()
    const expected = [...Object.keys(checksums.files), "attachments", "checksums.json"].toSorted()
    if (there.join() !== expected.join()) {
      return yield* Effect.dieMessage(`${folder} has ${there.join()} instead of ${expected.join()}`)
    }
    for (const [name, sum] of Object.entries(checksums.files)) {
      const file = `${folder}/${source}/${name}`
      if (checksum(yield* fs.readFile(file)) !== sum) {
        return yield* Effect.dieMessage(`${file} is not what it was saved as`)
      }
      files.push(file)
    }
  }
  const [count, ...others] = counts
  return count === undefined || others.length > 0
    ? yield* Effect.dieMessage(`${folder} holds sources of several fetches: ${[...counts].join()}`)
    : { count, files }
}, Effect.orDie)

export const checksum = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")
