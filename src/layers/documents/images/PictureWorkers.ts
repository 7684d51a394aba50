/**
 * Processes that make pictures: two at a time, with a low priority, so that screens stay responsive.
 *
 * It owns when they start and end. `pictureWorker.ts` is their program.
 */
import { type ChildProcess, fork } from "node:child_process"
import { createRequire } from "node:module"
import { constants, setPriority } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Pool from "effect/Pool"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { explain } from "../../../files/systemError.ts"
import { packageFile } from "../../../internal/packageFile.ts"
import { excerpt } from "../../../internal/printable.ts"
import { withTimeout } from "../../../internal/Schedules.ts"
import { Failed, type Job, Looked, Made, type Make, Ready } from "./pictureMessages.ts"

/** A picture is broken, takes too long, or cannot be written. */
export class PictureNotMade extends Schema.TaggedError<PictureNotMade>()("vitrine/PictureNotMade", {
  /** Why, as a sentence for people. */
  detail: Schema.String,
  /** Whether the process has ended, so that another process may make the picture. */
  hasEnded: Schema.optionalWith(Schema.Boolean, { default: () => false })
}) {
  override get message() {
    return this.detail
  }
}

/** How many processes work at the same time, for all sources of this process. */
const maxWorkers = 2
const working = Effect.unsafeMakeSemaphore(maxWorkers)

/** How often a job is retried with another worker, because idle workers may have ended. */
const retries = maxWorkers

/** AVIF of 12 megapixels takes up to 22 seconds on a current machine. */
const limitMsOf = ({ format }: Pick<Make, "format">) => (format === "avif" ? 600_000 : 120_000)

/** The limit for reading the head of a picture. */
const lookLimitMs = 30_000

/** The limit for a job whose process does not even use the processor. */
const longest = "1 hour"

/**
 * Starts processes when there is work. Ends them after half a minute to a minute without work, and with the scope.
 *
 * A process is killed if its job is interrupted, uses more than 3 GiB of memory, or takes too long: 10 minutes of
 * processor time for AVIF, 2 minutes for other formats, half a minute for a look, an hour by the clock. A process
 * that ends by itself is replaced, and its job is retried up to twice.
 */
export const make = Effect.gen(function* () {
  const workers = yield* Pool.makeWithTTL({
    acquire: startWorker,
    min: 0,
    max: maxWorkers,
    timeToLive: "30 seconds"
  })

  const run = <A>(job: Job, answer: Schema.Schema<A>) =>
    Pool.get(workers).pipe(
      Effect.flatMap((worker) =>
        Effect.ensuring(
          ask(worker, job, answer),
          Effect.suspend(() => (isRunning(worker) ? Effect.void : Pool.invalidate(workers, worker)))
        )
      ),
      Effect.scoped,
      working.withPermits(1),
      Effect.retry({ times: retries, while: ({ hasEnded }) => hasEnded })
    )

  return {
    look: (file: string) => run({ job: "look", file, limitMs: lookLimitMs }, Looked),
    make: (job: Omit<Make, "job" | "limitMs">) => run({ ...job, job: "make", limitMs: limitMsOf(job) }, Made)
  }
})

/** TypeScript in this repository; otherwise the program in the package, also if the caller is in a bundle. */
const programOf = () => {
  const name = "layers/documents/images/pictureWorker"
  if (!import.meta.url.endsWith(".ts")) {
    return { file: packageFile(`dist/${name}.js`), execArgv: [] }
  }
  const jiti = dirname(createRequire(import.meta.url).resolve("jiti/package.json"))
  return {
    file: packageFile(`src/${name}.ts`),
    execArgv: ["--import", pathToFileURL(join(jiti, "lib/jiti-register.mjs")).href]
  }
}

/**
 * Sets the priority from this process: on Linux it counts for threads that begin later, and the worker has begun some
 * when its program runs. A failure is ignored: the worker also works with a normal priority.
 */
const lowerPriority = ({ pid }: ChildProcess) =>
  pid === undefined
    ? Effect.void
    : Effect.ignore(Effect.try(() => setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)))

const startWorker = Effect.acquireRelease(
  Effect.try({
    try: () => {
      const { execArgv, file } = programOf()
      // No tokens: the libraries for pictures read files of others.
      const env = Struct.pick(process.env, "PATH", "LD_LIBRARY_PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR")
      return fork(file, { env, execArgv, stdio: ["ignore", "ignore", "ignore", "ipc"] }).on("error", () => {})
    },
    catch: (error) => new PictureNotMade({ detail: error instanceof Error ? error.message : String(error) })
  }).pipe(Effect.tap(lowerPriority)),
  // Does not wait for the end of the process: a pool that is closed while it ends an idle process would wait for
  // ever.
  (worker) => Effect.sync(() => worker.kill("SIGKILL"))
).pipe(
  Effect.tap((worker) => within("10 minutes")(nextAnswer(worker, Ready))),
  Effect.mapError(
    ({ detail }) => new PictureNotMade({ detail: `the process for pictures does not start: ${detail}` })
  )
)

const within = (duration: Duration.DurationInput) =>
  withTimeout(duration, () => new PictureNotMade({ detail: `it takes longer than ${duration}.` }))

const isRunning = ({ connected, exitCode, signalCode }: ChildProcess) =>
  connected && exitCode === null && signalCode === null

let jobs = 0

/** The job is sent when its answer can be heard. @internal */
export const ask = <A>(worker: ChildProcess, job: Job, answer: Schema.Schema<A>) =>
  Effect.suspend(() => {
    const number = ++jobs
    return within(longest)(
      nextAnswer(worker, answer, number, () => worker.send({ ...job, number }, () => {}))
    )
  })

/** Ignores answers to jobs with another number. The process is killed if the effect is interrupted. */
const nextAnswer = <A>(
  worker: ChildProcess,
  answer: Schema.Schema<A>,
  number?: number,
  begin: () => void = constVoid
) =>
  Effect.async<unknown, PictureNotMade>((resume) => {
    const settle = (outcome: Effect.Effect<unknown, PictureNotMade>) => {
      worker.off("message", onMessage).off("exit", onEnd).off("error", onEnd)
      resume(outcome)
    }
    const onMessage = (message: unknown) => {
      if (numberOf(message) === number) settle(Effect.succeed(message))
    }
    const onEnd = () => settle(Effect.fail(ended(worker)))
    worker.on("message", onMessage).on("exit", onEnd).on("error", onEnd)
    if (isRunning(worker)) begin()
    else onEnd()
    return kill(worker)
  }).pipe(
    Effect.flatMap((message) =>
      isFailed(message)
        ? new PictureNotMade({ detail: reasonOf(message) })
        : Effect.orDie(Schema.decodeUnknown(answer)(message))
    )
  )

const numberOf = (message: unknown) => (Predicate.hasProperty(message, "number") ? message.number : undefined)

/** Ends when the process has ended. */
const kill = (worker: ChildProcess) =>
  Effect.async<void>((resume) => {
    if (worker.pid === undefined || worker.exitCode !== null || worker.signalCode !== null) {
      resume(Effect.void)
    } else {
      worker.once("exit", () => resume(Effect.void))
      worker.kill("SIGKILL")
    }
  })

const isFailed = Schema.is(Failed)

/** Explains errors of the system. Other messages come from `sharp`. */
const reasonOf = ({ code, message }: Failed) =>
  code === undefined ? excerpt(message) : explain({ name: "Error", message: excerpt(message), code })

const ended = ({ exitCode, signalCode }: ChildProcess) =>
  new PictureNotMade({
    detail: `the process that makes it has ended with ${signalCode ?? `status ${exitCode}`}.`,
    hasEnded: true
  })
