/**
 * How a command is used, and completion scripts: the library's, with what it leaves out.
 */

import * as CliConfig from "@effect/cli/CliConfig"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Span from "@effect/cli/HelpDoc/Span"
import * as Usage from "@effect/cli/Usage"
import * as Effect from "effect/Effect"

/** Options that every command has are told of in the overview alone. */
export const cliConfig: CliConfig.CliConfig = { ...CliConfig.defaultConfig, showBuiltIns: false }

/** The whole line that calls the command, what it does, and its arguments and options. */
export const helpText = <A>(command: Descriptor.Command<A>): string => {
  const usage = HelpDoc.getSpan(Usage.getHelp(Descriptor.getUsage(command)))
  return HelpDoc.toAnsiText(
    HelpDoc.blocks([
      HelpDoc.h1("USAGE"),
      HelpDoc.p(Span.spans([Span.text("vitrine "), usage])),
      Descriptor.getHelp(command, cliConfig)
    ])
  ).trimEnd()
}

/** A completion script for bash, in which the values of an option are words of their own. */
export const bashCompletions = <A>(program: Descriptor.Command<A>): Effect.Effect<string> =>
  Effect.map(Descriptor.getBashCompletions(program, "vitrine"), (lines) =>
    lines.map((line) => line.replace(/-W "[\w,]+"/, (words) => words.replaceAll(",", " "))).join("\n")
  )
