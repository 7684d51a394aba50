/**
 * Everything that the transport may say, read strictly: any other byte is a mistake.
 *
 * It owns the contract of responses as such (docs/wire.md, sections 2.3 to 2.6 and 7).
 * Which answer belongs to which request is not its concern.
 */
import { STATUS_CODES } from "node:http"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { StatusPart } from "../../../src/services/View.ts"

export interface Answer {
  readonly status: number
  /** It goes on until the connection ends. */
  readonly isEventStream: boolean
}

export interface Answers {
  /** Without the interim ones. */
  readonly responses: ReadonlyArray<Answer>
  /** What has come of an answer or frame that is not whole. */
  readonly rest: Buffer
}

export interface Options {
  /** Whether one of the requests could be HEAD, whose answer has the length of a body and none. */
  readonly mayLackBody: boolean
}

/** The responses of a connection, or what is wrong with them. */
export const parse = (bytes: Buffer, { mayLackBody }: Options): Either.Either<Answers, string> =>
  Either.gen(function* () {
    const responses: Array<Answer> = []
    let rest = bytes
    while (true) {
      const end = rest.indexOf("\r\n\r\n")
      if (end === -1) {
        return { responses, rest }
      }
      const { headers, status } = yield* parseHead(rest.toString("latin1", 0, end))
      const after = rest.subarray(end + 4)
      if (status === 100) {
        rest = after
        continue
      }
      yield* expectHeader(headers, "access-control-allow-origin", "*")
      if (status === 204) {
        yield* expectHeader(headers, "access-control-allow-methods", "GET, POST, OPTIONS")
        yield* expectHeader(headers, "access-control-allow-headers", "Content-Type")
        yield* expectHeader(headers, "access-control-max-age", "86400")
        responses.push({ status, isEventStream: false })
        rest = after
        continue
      }
      if (status === 200 && headers.get("content-type") === "text/event-stream") {
        yield* expectHeader(headers, "cache-control", "no-store, no-transform")
        yield* expectHeader(headers, "x-accel-buffering", "no")
        responses.push({ status, isEventStream: true })
        return { responses, rest: yield* parseFrames(after) }
      }
      yield* expectHeader(headers, "content-type", "application/json")
      const length = Number(headers.get("content-length") ?? Number.NaN)
      if (!Number.isSafeInteger(length)) {
        return yield* Either.left(`An answer ${status} has no length`)
      }
      if (mayLackBody && after[0] !== openingBrace) {
        responses.push({ status, isEventStream: false })
        rest = after
        continue
      }
      if (after.length < length) {
        return { responses, rest }
      }
      yield* checkBody(status, after.subarray(0, length))
      responses.push({ status, isEventStream: false })
      rest = after.subarray(length)
    }
  })

const openingBrace = 0x7b

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
}

const parseHead = (text: string): Either.Either<Head, string> =>
  Either.gen(function* () {
    const [statusLine = "", ...lines] = text.split("\r\n")
    const [, code = "", reason] = /^HTTP\/1\.1 (\d{3}) ([ -~]+)$/.exec(statusLine) ?? []
    if (code === "" || STATUS_CODES[code] !== reason) {
      return yield* Either.left(`No status line: ${JSON.stringify(statusLine)}`)
    }
    const headers = new Map<string, string>()
    for (const line of lines) {
      const [, field = "", value = ""] = /^([\w-]+): ([ -~]*)$/.exec(line) ?? []
      const name = field.toLowerCase()
      if (name === "" || headers.has(name)) {
        return yield* Either.left(`No header, or one too many: ${JSON.stringify(line)}`)
      }
      headers.set(name, value)
    }
    return { status: Number(code), headers }
  })

const expectHeader = (headers: Head["headers"], name: string, value: string): Either.Either<void, string> =>
  headers.get(name) === value
    ? Either.void
    : Either.left(`The header ${name} is ${headers.get(name) ?? "missing"}, instead of ${value}`)

/** Checks the frames of an event stream, and returns what follows the last whole one. */
const parseFrames = (bytes: Buffer): Either.Either<Buffer, string> =>
  Either.gen(function* () {
    const [begin = "", ...frames] = bytes.toString("latin1").split(/(?<=\n\n)/)
    if (begin.endsWith("\n\n") && begin !== "retry: 2000\n\n") {
      return yield* Either.left(`An event stream begins with ${JSON.stringify(begin)}`)
    }
    const last = frames.at(-1) ?? begin
    for (const frame of frames) {
      const data = /^event: [^\r\n]+\ndata: ([^\r\n]*)\n\n$/.exec(frame)?.[1]
      if (frame.endsWith("\n\n") && frame !== ": ping\n\n" && (data === undefined || !isJson(data))) {
        return yield* Either.left(`No frame: ${JSON.stringify(frame)}`)
      }
    }
    return last.endsWith("\n\n") ? Buffer.alloc(0) : Buffer.from(last, "latin1")
  })

const isJson = (text: string) => Either.isRight(Either.try(() => JSON.parse(text)))

const isDate = (text: string) => !Number.isNaN(Date.parse(text))

const StatusSnapshot = StatusPart.pipe(Schema.filter(({ header }) => isDate(header.startTime)))

const GlobalState = Schema.Struct({
  system: Schema.Struct({ startTime: Schema.String, mode: Schema.String, node: Schema.Unknown }),
  plugins: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  problems: Schema.optional(Schema.Array(Schema.Unknown)),
  _version: Schema.Number
}).pipe(Schema.filter(({ system }) => isDate(system.startTime)))

const CommandResult = Schema.Struct({ result: Schema.Unknown })

interface Description {
  readonly name: string
  readonly message: string
  readonly cause?: Description | undefined
}

const Description: Schema.Schema<Description> = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  cause: Schema.optional(Schema.suspend(() => Description))
})

const plainError = body(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))

const bodies: Readonly<Record<number, (bytes: Buffer) => Either.Either<unknown, ParseResult.ParseError>>> = {
  200: body(Schema.Union(CommandResult, StatusSnapshot, GlobalState)),
  400: plainError,
  403: plainError,
  404: plainError,
  408: plainError,
  413: plainError,
  431: plainError,
  500: body(Schema.Struct({ error: Description })),
  503: plainError
}

function body<A, I>(schema: Schema.Schema<A, I>) {
  const decode = Schema.decodeUnknownEither(Schema.parseJson(schema), { onExcessProperty: "error" })
  return (bytes: Buffer) => decode(bytes.toString())
}

const checkBody = (status: number, bytes: Buffer): Either.Either<void, string> => {
  const check = bodies[status]
  return check === undefined
    ? Either.left(`An answer ${status}, which the contract does not know`)
    : Either.mapBoth(check(bytes), {
        onLeft: ({ issue }) =>
          `An answer ${status} says ${bytes.toString().slice(0, 500)}: ${ParseResult.TreeFormatter.formatIssueSync(issue)}`,
        onRight: () => undefined
      })
}
