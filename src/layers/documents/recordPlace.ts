/**
 * The place of a record in a text file that people edit, so that an editor finds it by its line.
 *
 * The place has a symbol as its key. Spreading a record keeps it, and JSON leaves it out.
 */
import * as Predicate from "effect/Predicate"

/** A line of a text file, counted from 1. */
export interface TextPlace {
  /** The path of the file in its folder, for people. */
  readonly file: string
  readonly line: number
}

/** The name of a record in messages. */
export interface RecordPlace {
  readonly id?: string | undefined
  readonly text?: TextPlace | undefined
}

const placeKey: unique symbol = Symbol("vitrine/TextPlace")

/** A copy of the record with its place. */
export const withTextPlace = (record: object, place: TextPlace): object => ({ ...record, [placeKey]: place })

/** The place of a record in a text file. A step that makes a new record without spreading the old one loses it. */
export const textPlaceOf = (record: unknown): TextPlace | undefined =>
  Predicate.hasProperty(record, placeKey) && isTextPlace(record[placeKey]) ? record[placeKey] : undefined

/** The JSON of a value, with the places of the value's records. */
export const withPlacesOf = (value: unknown, json: unknown): unknown =>
  Array.isArray(value) && Array.isArray(json)
    ? json.map((record: unknown, index) => {
        const place = textPlaceOf(value[index])
        return place === undefined || !Predicate.isObject(record) ? record : withTextPlace(record, place)
      })
    : json

const isTextPlace = (value: unknown): value is TextPlace =>
  Predicate.hasProperty(value, "file") &&
  Predicate.isString(value.file) &&
  Predicate.hasProperty(value, "line") &&
  Predicate.isNumber(value.line)
