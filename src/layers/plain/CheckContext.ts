/**
 * Checks the context of a plain controller against `plainController.ts` before it is used.
 *
 * Checks only that members exist, own or inherited, and calls nothing. A controller may give more members.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { issuesText, PlacedIssue, unexpected } from "../../internal/Options.ts"

/** The context is not valid: lists every mistake with its place, as in `context.eventBus.onAny`. */
export class InvalidContext extends Schema.TaggedError<InvalidContext>()("vitrine/InvalidContext", {
  /** The function that got the context. */
  method: Schema.Literal("setup", "fetch"),
  issues: Schema.Array(PlacedIssue)
}) {
  override get message() {
    return issuesText(`the context that ${this.method} was given`, this.issues)
  }
}

/** The expected type of a value, and of its members. */
interface Shape {
  readonly what: string
  readonly is: (value: unknown) => boolean
  readonly members: Readonly<Record<string, Shape>>
}

const shape = (what: string, is: Shape["is"], members: Shape["members"] = {}): Shape => ({
  what,
  is,
  members
})

const object = (members: Shape["members"]) => shape("an object", isObject, members)

/** Also accepts functions, which may have members. An array lacks the required members. */
const isObject = (value: unknown): boolean => Predicate.isObject(value) && !Array.isArray(value)

/** Not `instanceof`, because the signal may come from another realm. */
const isAbortSignal = (value: unknown): boolean =>
  Predicate.isRecord(value) &&
  Predicate.isBoolean(value.aborted) &&
  Predicate.isFunction(value.addEventListener) &&
  Predicate.isFunction(value.removeEventListener)

const method = shape("a function", Predicate.isFunction)

const fetchContext = object({
  logger: object({ error: method, warn: method, info: method, debug: method, verbose: method }),
  abortSignal: shape("an AbortSignal", isAbortSignal)
})

const setupContext = object({
  eventBus: object({ onAny: method, offAny: method, emit: method }),
  ...fetchContext.members,
  mode: shape('"task" or "persistent"', (mode) => mode === "task" || mode === "persistent"),
  getStatusSnapshot: method,
  getGlobalState: method,
  dispatchCommand: method,
  updateState: method
})

const mistakes = (path: string, { is, members, what }: Shape, value: unknown): ReadonlyArray<PlacedIssue> =>
  is(value)
    ? Object.entries(members).flatMap(([name, member]) =>
        mistakes(`${path}.${name}`, member, Predicate.hasProperty(value, name) ? value[name] : undefined)
      )
    : [{ path, message: unexpected(what, value) }]

const check =
  (method: InvalidContext["method"], expected: Shape) =>
  <Context>(context: Context): Either.Either<Context, InvalidContext> => {
    const issues = mistakes("context", expected, context)
    return issues.length === 0 ? Either.right(context) : Either.left(new InvalidContext({ method, issues }))
  }

/** Checks the argument of a plugin's `setup`, a `PlainContext`. */
export const checkContext = check("setup", setupContext)

/** Checks the argument of a source's `fetch`, a `PlainFetchContext`. */
export const checkFetchContext = check("fetch", fetchContext)
