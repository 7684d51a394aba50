/**
 * The query of a listing, and of a record. What is not implemented is refused: a parameter that was ignored in
 * silence would make the stand-in lie.
 */
import * as Either from "effect/Either"
import { type ApiError, invalidRequest } from "../ApiError.ts"
import type { SortKey } from "./sortRecords.ts"

export interface ListQuery {
  /** 1 to 100. */
  readonly pageSize: number
  readonly offset?: string
  /** Name or id. */
  readonly view?: string
  /** The fields to answer with, by name or id; absent for all. */
  readonly fields?: ReadonlyArray<string>
  /** The most records over all pages. */
  readonly maxRecords: number
  /** Takes the place of the view's order unless it is empty. */
  readonly sort: ReadonlyArray<SortKey>
  /** Whether the answer has the ids of fields in place of their names. */
  readonly byFieldId: boolean
}

/** Parameters by name, as a URL brings them: several values where a name was given several times. */
export type QueryParameters = Readonly<Record<string, string | ReadonlyArray<string>>>

const maxPageSize = 100

export const decodeListQuery = (parameters: QueryParameters): Either.Either<ListQuery, ApiError> =>
  Either.gen(function* () {
    let query: ListQuery = {
      pageSize: maxPageSize,
      maxRecords: Number.POSITIVE_INFINITY,
      sort: [],
      byFieldId: false
    }
    const sort = new Map<number, Partial<SortKey>>()
    for (const [name, given] of Object.entries(parameters)) {
      const values = typeof given === "string" ? [given] : given
      if (isFields(name)) {
        query = { ...query, fields: [...(query.fields ?? []), ...values] }
        continue
      }
      const value = yield* single(name, values)
      const sortPart = sortParameter.exec(name)
      if (sortPart !== null) {
        const index = Number(sortPart[1])
        const part = yield* decodeSortPart(name, sortPart[2], value)
        sort.set(index, { ...sort.get(index), ...part })
        continue
      }
      query = { ...query, ...(yield* decodeParameter(name, value)) }
    }
    return { ...query, sort: yield* sortKeys(sort) }
  })

/** The query of a single record, which knows less. */
export const decodeRecordQuery = (
  parameters: QueryParameters
): Either.Either<Pick<ListQuery, "byFieldId">, ApiError> => {
  const known = ["cellFormat", "returnFieldsByFieldId"]
  const unknown = Object.keys(parameters).find((name) => !known.includes(name))
  return unknown === undefined
    ? decodeListQuery(parameters)
    : Either.left(
        invalidRequest(
          `The parameter ${JSON.stringify(unknown)} is not supported for a record. Supported are ${known.join(" and ")}.`
        )
      )
}

const isFields = (name: string): boolean => /^fields\[\d*\]$/.test(name)

const sortParameter = /^sort\[(\d{1,4})\]\[(field|direction)\]$/

export const single = (name: string, values: ReadonlyArray<string>): Either.Either<string, ApiError> =>
  values.length === 1
    ? Either.right(values[0] ?? "")
    : Either.left(invalidRequest(`The parameter "${name}" is given ${values.length} times.`))

const decodeParameter = (name: string, value: string): Either.Either<Partial<ListQuery>, ApiError> => {
  switch (name) {
    case "pageSize":
      return Either.map(wholeNumber(name, value, maxPageSize), (pageSize) => ({ pageSize }))
    case "maxRecords":
      return Either.map(wholeNumber(name, value, Number.MAX_SAFE_INTEGER), (maxRecords) => ({ maxRecords }))
    case "offset":
      return Either.right({ offset: value })
    case "view":
      return Either.right({ view: value })
    case "cellFormat":
      return Either.map(oneOf(name, value, ["json"]), () => ({}))
    case "returnFieldsByFieldId":
      return Either.map(oneOf(name, value, ["true", "false"]), (given) => ({ byFieldId: given === "true" }))
    default:
      return Either.left(unsupported(name))
  }
}

export const unsupported = (name: string): ApiError =>
  invalidRequest(
    `The parameter ${JSON.stringify(name)} is not supported by this local server. Supported are pageSize, offset, view, fields[], maxRecords, sort[…], returnFieldsByFieldId and cellFormat.`
  )

export const wholeNumber = (name: string, value: string, max: number): Either.Either<number, ApiError> => {
  const number = /^\d+$/.test(value) ? Number(value) : 0
  return number >= 1 && number <= max
    ? Either.right(number)
    : Either.left(
        invalidRequest(
          `The parameter "${name}" must be a whole number between 1 and ${max}, not ${JSON.stringify(value)}.`
        )
      )
}

const oneOf = <const A extends string>(
  name: string,
  value: string,
  known: ReadonlyArray<A>
): Either.Either<A, ApiError> =>
  Either.fromNullable(
    known.find((text) => text === value),
    () =>
      invalidRequest(
        `The parameter "${name}" can only be ${known.map((text) => `"${text}"`).join(" or ")} with this local server, not ${JSON.stringify(value)}.`
      )
  )

const decodeSortPart = (
  name: string,
  part: string | undefined,
  value: string
): Either.Either<Partial<SortKey>, ApiError> => {
  if (part === "field") {
    return Either.right({ field: value })
  }
  return Either.map(oneOf(name, value, ["asc", "desc"]), (direction) => ({ direction }))
}

const sortKeys = (
  parts: ReadonlyMap<number, Partial<SortKey>>
): Either.Either<ReadonlyArray<SortKey>, ApiError> =>
  Either.all(
    [...parts]
      .sort(([self], [that]) => self - that)
      .map(([index, { field, ...order }]) =>
        field === undefined
          ? Either.left(invalidRequest(`The parameter "sort[${index}][field]" is missing.`))
          : Either.right({ field, ...order })
      )
  )
