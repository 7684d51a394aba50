/**
 * A log in a file that does not grow for ever.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createStream, type RotatingFileStream } from "rotating-file-stream"

export interface LogFileOptions {
  readonly folder: string
  readonly name: string
  /** When the file is this large, it is renamed to `<name>.1` and a new one is begun. Default 5 MiB. */
  readonly size?: `${number}${"B" | "K" | "M"}`
  /** How many old ones are kept. Default 4. */
  readonly kept?: number
}

/**
 * Opens the file, to which lines are appended until the scope ends; by then they are written. Lines that cannot be
 * written, because the disk is full for example, are lost, and those that come later are not.
 */
export const openLogFile = ({
  folder,
  kept = 4,
  name,
  size = "5M"
}: LogFileOptions): Effect.Effect<(line: string) => void, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        let current: RotatingFileStream | undefined
        const open = () => {
          const stream = createStream((index) => (index === null ? name : `${name}.${index}`), {
            path: folder,
            size,
            rotate: kept,
            mode: 0o600
          })
          // A stream that has failed stays closed: the next line has a new one.
          stream.on("error", () => {
            current = undefined
          })
          return stream
        }
        return {
          write: (line: string) => {
            current ??= open()
            current.write(`${line}\n`)
          },
          end: Effect.async<void>((resume) => {
            const written = () => resume(Effect.void)
            if (current === undefined) {
              written()
            } else {
              current.end(written)
            }
          })
        }
      }),
      ({ end }) => end
    ),
    ({ write }) => write
  )
