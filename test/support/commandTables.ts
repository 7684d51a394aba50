/**
 * The tables of commands and options in a page, made of what `--help` says.
 */
import type { Argument, Command, Option } from "commander"
import * as Array from "effect/Array"
import { below } from "./documents.ts"

/** The page, with the two tables below the heading made anew: commands with their arguments, and options. */
export const withCommandTables = (text: string, heading: string, program: Command): string => {
  const section = below(heading, text)
  const tables = section.match(/(?<=\n)\|.*(?:\n\|.*)*/g) ?? []
  const made = [commandTable(program), optionTable(program)]
  const replaced = made.reduce((section, table, index) => {
    const before = tables[index]
    if (before === undefined) throw new Error(`There are not enough tables below "${heading}".`)
    return section.replace(before, () => table)
  }, section)
  return text.replace(section, () => replaced)
}

const tableOf = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n")

const commandTable = ({ commands }: Command) =>
  tableOf(
    ["command", "what it does"],
    commands.map((command) => {
      const names = command.registeredArguments.map((argument) => argument.name())
      const usage = ["vitrine", command.name(), ...command.registeredArguments.map(usageOf)].join(" ")
      const texts = command.registeredArguments.map(
        (argument) => `\`${argument.name()}\`: ${describe(argument, names)}`
      )
      return [`\`${usage}\``, [marked(command.description(), names), ...texts].join(" ")]
    })
  )

const usageOf = (argument: Argument) => (argument.required ? argument.name() : `[${argument.name()}]`)

/** Options of every command come last. One that means something else for another command has a row of its own. */
const optionTable = (program: Command) => {
  const all = [
    ...program.commands.flatMap((command) =>
      command.options.filter(({ hidden }) => !hidden).map((option) => ({ option, of: command.name() }))
    ),
    ...program
      .createHelp()
      .visibleOptions(program)
      .map((option) => ({ option, of: "every command" }))
  ]
  const rows = Array.groupBy(all, ({ option }) => `${option.flags} ${option.description}`)
  return tableOf(
    ["option", "of", "meaning"],
    Object.values(rows).flatMap((same) => {
      const [first] = same
      return first === undefined
        ? []
        : [[flagsOf(first.option), same.map(({ of }) => of).join(", "), describe(first.option)]]
    })
  )
}

/** `--config FILE` */
const flagsOf = ({ flags }: Option) => `\`${flags.replace(/^-\w, /, "").replace(/[<>]/g, "")}\``

const describe = (
  {
    argChoices,
    defaultValue,
    description
  }: Pick<Option | Argument, "argChoices" | "defaultValue" | "description">,
  names: ReadonlyArray<string> = []
): string =>
  [
    marked(description, names),
    ...(argChoices === undefined
      ? []
      : [`One of ${argChoices.map((choice) => `\`${choice}\``).join(", ")}.`]),
    ...(defaultValue === undefined ? [] : [`Default: \`${defaultValue}\`.`])
  ].join(" ")

/** With commands, options, files, arguments and words of the status as code. */
const marked = (text: string, names: ReadonlyArray<string>): string =>
  text.replace(
    /\bvitrine [a-z]+|\bcontroller\.log|--[a-z]+(?:-[a-z]+)*|(?:\b\w+)?(?:\.\w+)*\.(?:ts|js|mjs)\b|\.vitrine\b|"[^"]*"|\d\d:\d\d|\b[A-Z]+(?:=value|\/[A-Z]+)|\b(?:FAILING|NO CONTENT)\b|\b[A-Z]+\b/g,
    (found) =>
      /^[A-Z]+$/.test(found) && found !== "FAILING" && !names.includes(found) ? found : `\`${found}\``
  )
