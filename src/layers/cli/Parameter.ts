/**
 * What a command takes: options and arguments, each with its help and its way of being read.
 */
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"

export interface Parameter<out A> {
  readonly kind: "option" | "argument"
  /** Without dashes: `log-file`. Of an argument it is what stands for it in the help: `DIR`. */
  readonly name: string
  readonly description: string
  /** What stands for the value of an option in the help, `FILE` for example. A flag has none. */
  readonly value: Option.Option<string>
  /** The only values there are; any, if there are none. */
  readonly choices: ReadonlyArray<string>
  readonly isRequired: boolean
  readonly isRepeated: boolean
  /** The value of what was given, in order; a mistake says what would have been right. */
  readonly read: (given: ReadonlyArray<string>) => Either.Either<A, Mistake>
}

export interface Mistake {
  /** As it was given; `None` if it was not. */
  readonly given: Option.Option<string>
  /** What is expected, as in "takes a whole number". */
  readonly expected: string
}

interface Described {
  readonly name: string
  readonly description: string
}

const option = ({ description, name }: Described, value: Option.Option<string>) =>
  ({
    kind: "option",
    name,
    description,
    value,
    choices: [],
    isRequired: false,
    isRepeated: false
  }) as const

/** Whether the option is there. */
export const flag = (described: Described): Parameter<boolean> => ({
  ...option(described, Option.none()),
  read: (given) => Either.right(given.length > 0)
})

/** The last value that was given, as it stands. `value` is its name in the help. */
export const text = (described: Described & { readonly value: string }): Parameter<Option.Option<string>> =>
  parsed({ ...described, expected: "a text", parse: Option.some })

/** The last value that was given, of what `parse` takes. `expected` says what that is. */
export const parsed = <A>(
  described: Described & {
    readonly value: string
    readonly expected: string
    readonly parse: (text: string) => Option.Option<A>
  }
): Parameter<Option.Option<A>> => ({
  ...option(described, Option.some(described.value)),
  read: (given) =>
    Option.match(Array.last(given), {
      onNone: () => Either.right(Option.none()),
      onSome: (text) =>
        Option.match(described.parse(text), {
          onNone: () => Either.left({ given: Option.some(text), expected: described.expected }),
          onSome: (value) => Either.right(Option.some(value))
        })
    })
})

/** A whole number. */
export const integer = (
  described: Described & { readonly value: string }
): Parameter<Option.Option<number>> =>
  parsed({
    ...described,
    expected: "a whole number",
    parse: (text) => (/^-?\d+$/.test(text) ? Option.some(Number(text)) : Option.none())
  })

/** One of some texts. */
export const choice = <A extends string>(
  described: Described & { readonly choices: ReadonlyArray<A> }
): Parameter<Option.Option<A>> => ({
  ...parsed({
    ...described,
    value: described.choices.join(" | "),
    expected: `one of ${described.choices.join(", ")}`,
    parse: (text) => Array.findFirst(described.choices, (choice) => choice === text)
  }),
  choices: described.choices
})

/** All the values that were given. */
export const repeated = (
  described: Described & { readonly value: string }
): Parameter<ReadonlyArray<string>> => ({
  ...option(described, Option.some(described.value)),
  isRepeated: true,
  read: Either.right
})

/** An argument that may be left out. */
export const argument = ({ description, name }: Described): Parameter<Option.Option<string>> => ({
  ...option({ description, name }, Option.none()),
  kind: "argument",
  read: (given) => Either.right(Array.last(given))
})

/** What has to be given. */
export const required = <A>(parameter: Parameter<Option.Option<A>>): Parameter<A> => ({
  ...parameter,
  isRequired: true,
  read: (given) =>
    Either.flatMap(parameter.read(given), (value) =>
      Either.fromOption(value, () => ({ given: Option.none(), expected: parameter.name }))
    )
})

/** The value where nothing was given. */
export const withDefault = <A, const B>(
  parameter: Parameter<Option.Option<A>>,
  value: B
): Parameter<A | B> => ({
  ...parameter,
  read: (given) =>
    Either.map(
      parameter.read(given),
      Option.getOrElse(() => value)
    )
})

export type Parameters = Readonly<Record<string, Parameter<unknown>>>

export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer A> ? A : never
}

export interface ParameterMistake extends Mistake {
  readonly parameter: Parameter<unknown>
}

/** The texts that were given, by the names of the parameters. */
export type Given = ReadonlyMap<string, ReadonlyArray<string>>

/** The values of all parameters, or the first mistake. */
export function readAll<P extends Parameters>(
  parameters: P,
  given: Given
): Either.Either<Values<P>, ParameterMistake>
export function readAll(
  parameters: Parameters,
  given: Given
): Either.Either<Values<Parameters>, ParameterMistake> {
  return Either.all(
    Record.map(parameters, (parameter) =>
      Either.mapLeft(parameter.read(given.get(parameter.name) ?? []), (mistake) => ({
        ...mistake,
        parameter
      }))
    )
  )
}
