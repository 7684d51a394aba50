/**
 * What a client may do to a server, from polite to hostile, as fast-check arbitraries.
 */
import * as FastCheck from "effect/FastCheck"

export interface Conversation {
  /** Sent one after the other, with a turn of the event loop in between. */
  readonly pieces: ReadonlyArray<Buffer>
  /** For each request the statuses that its answer may have, where the requests are as they should be. */
  readonly due: ReadonlyArray<ReadonlyArray<number>> | undefined
  readonly end: End
}

/**
 * What the client does when it has sent everything: it half-closes at once or when it has all answers and reads
 * to the end, or it breaks off, by a reset or by closing, having read what came or nothing at all.
 */
export type End = "finish" | "finish when answered" | "reset" | "close" | "close unread"

/** The commands that requests name; those of `fail` and `missing` are answered with 500. */
export const commands = { echo: "content.ack", slow: "slow", fail: "fail", missing: "missing" } as const

interface Request {
  readonly bytes: Buffer
  readonly statuses: ReadonlyArray<number>
  /** The connection is to be closed after its answer. */
  readonly isLast: boolean
}

interface Body {
  readonly bytes: Buffer
  readonly statuses: ReadonlyArray<number>
}

const json = FastCheck.oneof(
  FastCheck.json(),
  FastCheck.constantFrom(
    "1e999",
    "-0",
    `1${"0".repeat(400)}`,
    '"\\ud800"',
    '"\\u0000\\u2028"',
    '{"__proto__":1,"constructor":{"prototype":2}}',
    '{"a":1,"a":2}',
    '{"toJSON":1}'
  ),
  FastCheck.integer({ min: 1, max: 30_000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)),
  FastCheck.integer({ min: 1, max: 10_000 }).map((depth) =>
    '{"a":'.repeat(depth).concat("0", "}".repeat(depth))
  )
)

/** The longest body that is accepted. */
const maxBody = 65_536

const commandBody: FastCheck.Arbitrary<Body> = FastCheck.oneof(
  FastCheck.tuple(
    FastCheck.constantFrom<readonly [string, number]>(
      [commands.echo, 200],
      [commands.slow, 200],
      [commands.fail, 500],
      [commands.missing, 500],
      ["stop", 403],
      ["__proto__", 403]
    ),
    json,
    FastCheck.constantFrom("", '"type":"first",', '"\\u0074ype":7,')
  ).map(([[type, status], value, before]) => {
    const bytes = Buffer.from(`{${before}"type":${JSON.stringify(type)},"value":${value}}`)
    return { bytes, statuses: [bytes.length > maxBody ? 413 : status] }
  }),
  FastCheck.integer({ min: maxBody - 1, max: maxBody + 2 }).map((length) => ({
    bytes: Buffer.from(`{"type":"${commands.slow}"}`.padEnd(length)),
    statuses: [length > maxBody ? 413 : 200]
  })),
  FastCheck.integer({ min: maxBody + 1, max: 300_000 }).map((length) => ({
    bytes: Buffer.alloc(length, "{"),
    statuses: [413]
  })),
  FastCheck.constantFrom(
    "",
    "{",
    "null",
    "[]",
    "7",
    "{}",
    '{"type":null}',
    '\ufeff{"type":"slow"}',
    '{"type":"slow"}{}',
    '{"type":"\xff"}',
    '{"type":"\xed\xa0\x80"}'
  ).map((text) => ({ bytes: Buffer.from(text, "latin1"), statuses: [400] }))
)

/** A body in chunks of these lengths, again and again, with the extensions and trailers that HTTP allows. */
const chunked = (bytes: Buffer, lengths: ReadonlyArray<number>): Buffer => {
  const chunks: Array<Buffer | string> = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const chunk = bytes.subarray(at, at + (lengths[n % lengths.length] ?? bytes.length))
    chunks.push(`${chunk.length.toString(16)}${n === 0 ? ";a=b" : ""}\r\n`, chunk, "\r\n")
    at += chunk.length
  }
  return joined([...chunks, "0\r\nX-Trailer: a\r\n\r\n"])
}

const joined = (parts: ReadonlyArray<Buffer | string>): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)))

interface Framed {
  readonly header: string
  readonly bytes: Buffer
}

const framed = ({ bytes }: Body): FastCheck.Arbitrary<Framed> =>
  FastCheck.oneof(
    FastCheck.constant({ header: `Content-Length: ${bytes.length}\r\n`, bytes }),
    FastCheck.array(FastCheck.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 4 }).map(
      (lengths) => ({ header: "Transfer-Encoding: chunked\r\n", bytes: chunked(bytes, lengths) })
    )
  )

const command = commandBody.chain((body) =>
  framed(body).map((framed) => ({ method: "POST", path: "/command", statuses: body.statuses, framed }))
)

const bodyless = FastCheck.oneof(
  FastCheck.constantFrom<readonly [string, string, ReadonlyArray<number>]>(
    ["GET", "/events", [200, 503]],
    ["GET", "/status", [200]],
    ["GET", "/state", [200]],
    ["OPTIONS", "/command", [204]],
    ["OPTIONS", "/nowhere", [204]],
    ["HEAD", "/status", [404]],
    ["HEAD", "/events", [404]],
    ["POST", "/events", [404]],
    ["GET", "/command", [404]],
    ["DELETE", "/status", [404]],
    ["GET", "/status/", [404]],
    ["GET", "//", [404]]
  ),
  FastCheck.webPath().map((path): readonly [string, string, ReadonlyArray<number>] => [
    "PUT",
    `/${path}`,
    [404]
  ])
).map(([method, path, statuses]) => ({
  method,
  path,
  statuses,
  framed: { header: "", bytes: Buffer.alloc(0) }
}))

interface Exchange {
  readonly method: string
  readonly path: string
  readonly statuses: ReadonlyArray<number>
  readonly framed: Framed
}

const persistent = { version: "1.1", header: "", isLast: false }

const requestOf = (what: FastCheck.Arbitrary<Exchange>): FastCheck.Arbitrary<Request> =>
  FastCheck.record({
    what,
    origin: FastCheck.constantFrom("", "", "", "http://localhost", "HTTPS://a.example:99"),
    query: FastCheck.constantFrom("", "", "", "?", "?a=%zz&b", "?/../x"),
    header: FastCheck.constantFrom(
      "",
      "",
      "Expect: patience\r\n",
      "Upgrade: websocket\r\n",
      `X-Long: ${"x".repeat(12_000)}\r\n`,
      "X-Latin: \xe9\xff\r\nX-Twice: a\r\nX-Twice: b\r\n"
    ),
    connection: FastCheck.constantFrom(
      persistent,
      persistent,
      persistent,
      { version: "1.1", header: "Connection: close\r\n", isLast: true },
      { version: "1.0", header: "", isLast: true }
    )
  }).map(({ connection, header, origin, query, what: { framed, method, path, statuses } }) => ({
    bytes: Buffer.concat([
      Buffer.from(
        `${method} ${origin}${path}${query} HTTP/${connection.version}\r\n` +
          `Host: a\r\n${connection.header}${header}${framed.header}\r\n`,
        "latin1"
      ),
      framed.bytes
    ]),
    statuses: URL.canParse(`${origin}${path}${query}`, "http://127.0.0.1") ? statuses : [400],
    isLast: connection.isLast
  }))

const request = requestOf(FastCheck.oneof(command, bodyless))

type Mutation = (bytes: Buffer) => Buffer

const place = FastCheck.double({ min: 0, max: 1, noNaN: true })

const replace = (bytes: Buffer, from: number, to: number, by: Buffer | string) =>
  joined([bytes.subarray(0, from), by, bytes.subarray(to)])

const at = (bytes: Buffer, place: number) => Math.floor(bytes.length * place)

/** What breaks parsers, or changes what the bytes around it mean. */
const token = FastCheck.oneof(
  FastCheck.constantFrom(
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\r\n ",
    "\0",
    " ",
    ":",
    "\t",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "-1\r\n",
    "GET ",
    "HEAD ",
    "CONNECT a:1 HTTP/1.1\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/2.0",
    "HTTP/0.9",
    "%00",
    "*",
    "#",
    "\\",
    "[::1]",
    "\ud83d\ude00",
    "GET /events HTTP/1.1\r\nHost: a\r\n\r\n",
    `${"y".repeat(20_000)}`,
    "X: y\r\n".repeat(3000)
  ),
  FastCheck.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes))
)

const headerLine = FastCheck.constantFrom(
  "Content-Length: 5",
  "Content-Length: 0",
  "Content-Length: -1",
  "Content-Length: 99999999999999999999",
  "Content-Length: 70000",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: chunked, chunked",
  "Transfer-Encoding: gzip, chunked",
  "Connection: close",
  "Connection: upgrade",
  "Connection: keep-alive",
  "Upgrade: h2c",
  "Expect: 100-continue",
  "Host: b",
  "Host:",
  " folded",
  "No colon",
  "X : y",
  ": y",
  `Cookie: ${"z".repeat(15_000)}`
)

/** Changes the lines of the first head. */
const inLines =
  (place: number, change: (line: string) => ReadonlyArray<string>): Mutation =>
  (bytes) => {
    const end = bytes.indexOf("\r\n\r\n")
    if (end === -1) {
      return bytes
    }
    const lines = bytes.toString("latin1", 0, end).split("\r\n")
    const index = Math.min(Math.floor(lines.length * place), lines.length - 1)
    const changed = lines.flatMap((line, at) => (at === index ? change(line) : [line])).join("\r\n")
    return replace(bytes, 0, end, Buffer.from(changed, "latin1"))
  }

/** A part of the bytes, of at most this length. */
const part = (maxLength: number) => FastCheck.tuple(place, FastCheck.integer({ min: 1, max: maxLength }))

const mutation: FastCheck.Arbitrary<Mutation> = FastCheck.oneof(
  FastCheck.tuple(place, FastCheck.integer({ min: 1, max: 255 })).map(
    ([place, mask]): Mutation =>
      (bytes) => {
        const from = at(bytes, place)
        return replace(bytes, from, from + 1, Buffer.from([(bytes[from] ?? 0) ^ mask]))
      }
  ),
  FastCheck.tuple(place, token).map(
    ([place, token]): Mutation =>
      (bytes) =>
        replace(bytes, at(bytes, place), at(bytes, place), token)
  ),
  part(100).map(
    ([place, length]): Mutation =>
      (bytes) =>
        replace(bytes, at(bytes, place), at(bytes, place) + length, "")
  ),
  part(2000).map(([place, length]): Mutation => {
    return (bytes) => {
      const from = at(bytes, place)
      return replace(bytes, from, from, bytes.subarray(from, from + length))
    }
  }),
  place.map(
    (place): Mutation =>
      (bytes) =>
        bytes.subarray(0, at(bytes, place))
  ),
  FastCheck.tuple(place, headerLine).map(([place, added]) => inLines(place, (line) => [line, added])),
  place.map((place) => inLines(place, (line) => [line, line])),
  place.map((place) => inLines(place, () => [])),
  place.map((place) => inLines(place, (line) => line.split(" ").flatMap((word) => [word, " "]))),
  FastCheck.integer({ min: 90, max: 150 }).map(
    (times): Mutation =>
      (bytes) =>
        bytes.length > 1000 ? bytes : joined(Array.from({ length: times }, () => bytes))
  )
)

const requests = FastCheck.array(request, { minLength: 1, maxLength: 4 })

const mutated = FastCheck.tuple(requests, FastCheck.array(mutation, { minLength: 1, maxLength: 4 })).map(
  ([requests, mutations]) => ({
    bytes: mutations.reduce<Buffer>(
      (bytes, mutate) => mutate(bytes),
      joined(requests.map(({ bytes }) => bytes))
    ),
    due: undefined
  })
)

/**
 * Requests all of which must be answered: none follows one after which the connection is to be closed, and only
 * the first has a body, since a server need not keep those that come before it is their turn.
 */
const proper = FastCheck.tuple(request, FastCheck.array(requestOf(bodyless), { maxLength: 3 })).map(
  ([first, others]) => {
    const requests = [first, ...others]
    const last = requests.findIndex(({ isLast }) => isLast)
    const sent = last === -1 ? requests : requests.slice(0, last + 1)
    return { bytes: joined(sent.map(({ bytes }) => bytes)), due: sent.map(({ statuses }) => statuses) }
  }
)

const noise = FastCheck.uint8Array({ maxLength: 3000, size: "max" }).map((bytes) => ({
  bytes: Buffer.from(bytes),
  due: undefined
}))

const cut = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const ends = [...places.map((place) => at(bytes, place)).sort((a, b) => a - b), bytes.length]
  return ends
    .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0)
}

export const conversation: FastCheck.Arbitrary<Conversation> = FastCheck.record({
  sent: FastCheck.oneof(
    { weight: 4, arbitrary: proper },
    { weight: 6, arbitrary: mutated },
    { weight: 1, arbitrary: noise }
  ),
  places: FastCheck.array(place, { maxLength: 8 }),
  end: FastCheck.oneof(
    { weight: 6, arbitrary: FastCheck.constantFrom<End>("finish", "finish when answered") },
    { weight: 3, arbitrary: FastCheck.constantFrom<End>("reset", "close", "close unread") }
  )
}).map(({ end, places, sent: { bytes, due } }) => ({ pieces: cut(bytes, places), due, end }))
