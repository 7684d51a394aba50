/**
 * A mistake of content: its code, its place, and what its sentence tells, in any language.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { english, type Language } from "./englishMistakes.ts"
import type { MistakePlace, ViolationWords } from "./mistakeParts.ts"

type FieldsOf<A extends Readonly<Record<string, (fields: never) => unknown>>> = {
  readonly [C in keyof A]: Parameters<A[C]>
}
/** The fields of the sentence of a code. */
export type Fields = FieldsOf<Language["sentences"]>
export type Code = keyof Fields

/** As `Fields`, of violations of expectations. */
export type ViolationFields = FieldsOf<Language["violations"]>
export type ViolationCode = keyof ViolationFields

export interface Mistake {
  readonly code: Code | ViolationCode
  readonly place: MistakePlace
  readonly fields: ReadonlyArray<unknown>
  /** The sentence, without the place. */
  readonly say: (language: Language) => string
}

export const mistake = <C extends Code>(code: C, place: MistakePlace, ...fields: Fields[C]): Mistake => ({
  code,
  place,
  fields,
  say: ({ sentences }) => {
    const all: { readonly [D in Code]: (...fields: Fields[D]) => string } = sentences
    return all[code](...fields)
  }
})

/** The parts of a violation, in English or another language. */
export const violationWords = <C extends ViolationCode>(
  code: C,
  fields: ViolationFields[C],
  { violations }: Language = english
): ViolationWords => {
  const all: { readonly [D in ViolationCode]: (...fields: ViolationFields[D]) => ViolationWords } = violations
  return all[code](...fields)
}

export const violationMistake = <C extends ViolationCode>(
  code: C,
  place: MistakePlace,
  fields: ViolationFields[C]
): Mistake => ({
  code,
  place,
  fields,
  say: (language) => language.violation(violationWords(code, fields, language))
})

/** The mistake at a place of which it knows a part. */
export const at = (place: MistakePlace, { place: part, ...mistake }: Mistake): Mistake => ({
  ...mistake,
  place: { ...place, ...part, name: part.name ?? place.name }
})

/** `Objects.csv, row 6 (INV-005), "title": expected text, found nothing.` */
export const mistakeText = (mistake: Mistake, language: Language = english): string =>
  [language.place(mistake.place), mistake.say(language)].filter((part) => part !== "").join(": ")

/** The sentence in English. */
export const sentenceOf = ({ say }: Mistake): string => say(english)

export const MistakeSchema = Schema.declare((input): input is Mistake => Predicate.hasProperty(input, "say"))
