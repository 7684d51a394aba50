/**
 * What functions of users give, as JSON.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"

/** The longest message of a user's function, in characters. */
export const maxDetail = 500

/** As it is once it is written and read again: dates are texts. `Left` is what it is instead, `a promise, in "rooms.0"`. */
export const asJson = (value: unknown): Either.Either<unknown, string> => {
  if (value === undefined) return Either.left("undefined")
  if (Predicate.isFunction(value) || Predicate.isSymbol(value)) return Either.left(`a ${typeof value}`)
  const read = Either.try({
    try: (): { readonly json: unknown; readonly lost: Lost | undefined } => ({
      json: JSON.parse(JSON.stringify(value)),
      lost: lostIn(value)
    }),
    catch: (cause) => `nothing that JSON can say: ${printableLine(messageOf(cause), maxDetail)}`
  })
  return Either.flatMap(read, ({ json, lost }) =>
    lost === undefined ? Either.right(json) : Either.left(described(lost))
  )
}

/** What JSON would say as `{}`. */
interface Lost {
  readonly value: object
  readonly path: ReadonlyArray<string>
}

const lostIn = (value: unknown): Lost | undefined => {
  if (!Predicate.isObject(value) || Predicate.isFunction(value) || "toJSON" in value) return undefined
  if (!Array.isArray(value) && isLost(value)) return { value, path: [] }
  for (const [name, member] of Object.entries(value)) {
    const lost = lostIn(member)
    if (lost !== undefined) return { ...lost, path: [name, ...lost.path] }
  }
  return undefined
}

const isLost = (value: object): boolean =>
  Predicate.isPromiseLike(value) || Symbol.iterator in value || Symbol.asyncIterator in value

const described = ({ path, value }: Lost): string => {
  const place = path.length === 0 ? "" : `, in "${printableLine(path.join("."), 200)}"`
  return Predicate.isPromiseLike(value)
    ? `a promise${place}: an "await" is missing`
    : `something of the type ${Object.prototype.toString.call(value).slice(8, -1)}${place}, which is nothing that JSON can say: make it a list`
}
