/**
 * Completion scripts for shells.
 */
import type { Command } from "./Command.ts"
import type { Parameter } from "./Parameter.ts"

export const shells = ["bash", "zsh", "fish", "sh"] as const
export type Shell = (typeof shells)[number]

/** A script that completes the commands, their options, and those values of options of which there are only a few. */
export const completionScript = (
  shell: Shell,
  commands: ReadonlyArray<Command>,
  everywhere: ReadonlyArray<Parameter<unknown>>
): string => {
  switch (shell) {
    case "bash":
    case "sh":
      return bash(commands, everywhere)
    case "zsh":
      return `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(commands, everywhere)}`
    case "fish":
      return fish(commands, everywhere)
  }
}

type Options = ReadonlyArray<Parameter<unknown>>

/** Where nothing is suggested, files are. */
const bash = (commands: ReadonlyArray<Command>, everywhere: Options): string => {
  const names = commands.map(({ name }) => name).sort()
  const wordsOf = (options: Options) =>
    [...options, ...everywhere]
      .map(({ name }) => `--${name}`)
      .sort()
      .join(" ")
  const valuesOf = (command: string, options: Options) =>
    options
      .filter(({ value }) => value._tag === "Some")
      .map(({ choices, name }) => `    "${command} --${name}") words="${choices.join(" ")}" ;;`)
  return `_vitrine_bash_completions() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" words each
  for each in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$each" in
      ${names.join("|")}) command="$each"; break ;;
    esac
  done
  case "$command" in
${commands.map(({ name, options }) => `    ${name}) words="${wordsOf(options)}" ;;`).join("\n")}
    *) words="${names.join(" ")} ${wordsOf([])}" ;;
  esac
  case "$command $previous" in
${[
  ...commands.flatMap(({ name, options }) => valuesOf(name, [...options, ...everywhere])),
  ...valuesOf("", everywhere)
].join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _vitrine_bash_completions vitrine`
}

const fish = (commands: ReadonlyArray<Command>, everywhere: Options): string => {
  const quote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`
  const option = (condition: string, { choices, description, name, value }: Parameter<unknown>) =>
    [
      "complete -c vitrine",
      condition,
      `-l ${name}`,
      value._tag === "None" ? "" : choices.length > 0 ? `-x -a ${quote(choices.join(" "))}` : "-r",
      `-d ${quote(description)}`
    ]
      .filter((part) => part !== "")
      .join(" ")
  return [
    ...commands.map(
      ({ description, name }) =>
        `complete -c vitrine -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`
    ),
    ...everywhere.map((each) => option("", each)),
    ...commands.flatMap(({ name, options }) =>
      options.map((each) => option(`-n '__fish_seen_subcommand_from ${name}'`, each))
    )
  ].join("\n")
}
