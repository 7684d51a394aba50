/**
 * `vitrine accept`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { printableLine } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import type { Problem } from "../../services/Problem.ts"
import { NoSuchWarning } from "../../services/Warning.ts"
import { acceptText } from "../status/rows.ts"
import { askController, caller } from "./askController.ts"
import type { Arguments, Options } from "./program.ts"

export const run = (options: Options, ...[code, subject = ""]: Arguments) =>
  Effect.gen(function* () {
    const { dispatch, view } = yield* IpcClient
    const { problems } = yield* view
    const warnings = problems.filter(({ accept }) => accept !== undefined)
    if (code === undefined) {
      return yield* Console.log(
        warnings.length === 0 ? "There is nothing to accept." : warnings.map(linesOf).join("\n")
      )
    }
    const warning = warnings.find((warning) => warning.code === code && warning.subject === subject)
    if (warning?.accept === undefined) {
      return yield* new NoSuchWarning({
        code,
        subject,
        warnings: warnings.map(({ code, subject = "" }) => ({ code, subject }))
      })
    }
    yield* dispatch({ type: warning.accept, code, subject, by: options.by ?? caller() })
    yield* Console.log(`Accepted: ${printableLine(warning.text)}`)
  }).pipe(askController(options))

const linesOf = (problem: Problem): string => `${acceptText(problem)}\n  ${printableLine(problem.text)}`
