/**
 * Completion scripts for shells.
 */
import type { Command, Option } from "commander"

export const shells = ["bash", "zsh", "fish", "sh"] as const
export type Shell = (typeof shells)[number]

/** A script that completes the commands, their options, and those values of options of which there are only a few. */
export const completionScript = (shell: Shell, program: Command): string => {
  switch (shell) {
    case "bash":
    case "sh":
      return bash(program)
    case "zsh":
      return `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(program)}`
    case "fish":
      return fish(program)
  }
}

/** With `--help`, which is not among `options`. */
const globalOptions = (program: Command): ReadonlyArray<Option> =>
  program.createHelp().visibleOptions(program)

/** Where nothing is suggested, files are. */
const bash = (program: Command): string => {
  const names = program.commands.map((command) => command.name()).sort()
  const everywhere = globalOptions(program)
  const wordsOf = (options: ReadonlyArray<Option>) =>
    [...options, ...everywhere]
      .map((option) => `--${option.name()}`)
      .sort()
      .join(" ")
  const valuesOf = (command: string, options: ReadonlyArray<Option>) =>
    [...options, ...everywhere]
      .filter(({ required }) => required)
      .map(
        (option) => `    "${command} --${option.name()}") words="${(option.argChoices ?? []).join(" ")}" ;;`
      )
  return `_vitrine_bash_completions() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" words each
  for each in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$each" in
      ${names.join("|")}) command="$each"; break ;;
    esac
  done
  case "$command" in
${program.commands.map((command) => `    ${command.name()}) words="${wordsOf(command.options)}" ;;`).join("\n")}
    *) words="${names.join(" ")} ${wordsOf([])}" ;;
  esac
  case "$command $previous" in
${[...program.commands.flatMap((command) => valuesOf(command.name(), command.options)), ...valuesOf("", [])].join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _vitrine_bash_completions vitrine`
}

const fish = (program: Command): string => {
  const quote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`
  const line = (condition: string, option: Option) => {
    const { argChoices = [], description, required } = option
    const value = argChoices.length > 0 ? ` -x -a ${quote(argChoices.join(" "))}` : required ? " -r" : ""
    return `complete -c vitrine${condition} -l ${option.name()}${value} -d ${quote(description)}`
  }
  return [
    ...program.commands.map(
      (command) =>
        `complete -c vitrine -n __fish_use_subcommand -f -a ${command.name()} -d ${quote(command.description())}`
    ),
    ...globalOptions(program).map((option) => line("", option)),
    ...program.commands.flatMap((command) =>
      command.options.map((option) => line(` -n '__fish_seen_subcommand_from ${command.name()}'`, option))
    )
  ].join("\n")
}
