/**
 * How the services get into a NATS server, and what is seen where they do not: credentials of each kind, and TLS. No
 * secret is in any log, status or error.
 */
import { createServer } from "node:net"
import { inspect } from "node:util"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as nats from "../../src/nats.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import * as certificates from "../support/certificates.ts"
import { withLog } from "../support/logged.ts"
import {
  collect,
  expectExact,
  insist,
  publishNumbers,
  startInstance,
  until
} from "../support/natsInstance.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { makeNkey, makeOperator } from "../support/natsUsers.ts"
import { isMissing } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import { temporaryFolder } from "../support/temporaryFolder.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

interface Kind {
  /** The configuration of a server. */
  readonly server: string
  /** The options of who is let in, and of who is not, and what must not be seen of both. */
  readonly right: nats.NatsConfig
  readonly wrong: nats.NatsConfig
  readonly secrets: ReadonlyArray<string>
  /** Files of those options. */
  readonly files?: Readonly<Record<string, string>>
}

const nkeyKind = (): Kind => {
  const [right, wrong] = [makeNkey(), makeNkey()]
  return {
    server: `authorization { users = [ { nkey: ${right.publicKey} } ] }`,
    right: { nkeySeed: right.seed },
    wrong: { nkeySeed: wrong.seed },
    secrets: [right.seed, wrong.seed]
  }
}

const credentialsKind = (): Kind => {
  const operator = makeOperator()
  const [right, wrong] = [operator.credentials(), makeOperator().credentials()]
  return {
    server: operator.configuration,
    right: { credentialsFile: "right.creds" },
    wrong: { credentialsFile: "wrong.creds" },
    secrets: [right.seed, right.jwt, wrong.seed, wrong.jwt],
    files: { "right.creds": right.file, "wrong.creds": wrong.file }
  }
}

const kinds: Readonly<Record<string, () => Kind>> = {
  "a user and a password": () => ({
    server: 'authorization { user: vitrine, password: "right-password" }',
    right: { user: "vitrine", password: "right-password" },
    wrong: { user: "vitrine", password: "wrong-password" },
    secrets: ["right-password", "wrong-password"]
  }),
  "a token": () => ({
    server: 'authorization { token: "right-token" }',
    right: { token: "right-token" },
    wrong: { token: "wrong-token" },
    secrets: ["right-token", "wrong-token"]
  }),
  "an nkey": nkeyKind,
  "a credentials file": credentialsKind
}

const inFolder = (directory: string, config: nats.NatsConfig): nats.NatsConfig =>
  config.credentialsFile === undefined
    ? config
    : { ...config, credentialsFile: `${directory}/${config.credentialsFile}` }

const tlsOf = (directory: string, more = "") =>
  `tls { cert_file: "${directory}/cert.pem", key_file: "${directory}/key.pem", ${more} }`

describe.skipIf(isMissing("nats-server")).concurrent("the services on NATS", () => {
  it.scopedLive.each(Object.entries(kinds))("connect with %s, and report wrong credentials", ([, make]) =>
    Effect.gen(function* () {
      const { files = {}, right, secrets, server, wrong } = make()
      const { directory } = yield* temporaryFolder(files)
      const { url } = yield* startNatsServer({ configuration: server })
      const outside = yield* startInstance({ servers: url, ...inFolder(directory, wrong) })
      const cause = yield* Effect.flip(Effect.sandbox(outside.events.publish("event", 1)))
      expect(Cause.pretty(cause)).toContain("there is no connection to NATS")
      // The server may close the connection while the client still writes, which is then reported first.
      const warnings = () =>
        outside.log.filter((line) => line.startsWith("WARN") && !/write EPIPE|ECONNRESET/.test(line))
      yield* until(() => warnings().length > 0)
      yield* Effect.sleep("1 second")
      expect(warnings()).toEqual([
        expect.stringMatching(/^WARN NATS at .* cannot be used: .*Authorization Violation/i)
      ])
      expect(yield* outside.status).toMatch(
        /none to nats:.* since .*Authorization Violation.*"tone":"error"/i
      )

      const inside = yield* startInstance({ servers: url, ...inFolder(directory, right) })
      yield* inside.events.publish("event", 1)
      expect(yield* inside.status).toMatch(/"label":"Connection","value":"nats:.*"tone":"ok"/)
      const shown = [
        ...outside.log,
        ...inside.log,
        yield* outside.status,
        yield* inside.status,
        inspect(cause, { depth: 9 })
      ]
      for (const secret of secrets) {
        expect(shown.join("\n")).not.toContain(secret)
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.each([
    ["a folder", ".", "cannot be read"],
    ["a missing file", "missing.creds", "cannot be read"],
    ["a file of something else", "server.conf", "unable to parse credentials"]
  ])("start with a warning where the credentials file is %s", ([, name, message]) =>
    Effect.gen(function* () {
      const { configuration } = makeOperator()
      const { directory } = yield* temporaryFolder({ "server.conf": configuration })
      const { url } = yield* startNatsServer({ configuration })
      const { log } = yield* startInstance({ servers: url, credentialsFile: `${directory}/${name}` })
      expect(log.join()).toContain(message)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("lose no event when a password is wrong for a while", () =>
    Effect.gen(function* () {
      const authorization = (password: string) => `authorization { user: vitrine, password: "${password}" }`
      const server = yield* startNatsServer({ configuration: authorization("first") })
      const one = yield* startInstance({ servers: server.url, user: "vitrine", password: "first" })
      const { last, seen } = yield* collect(one.events)
      const { accepted, end, more } = yield* publishNumbers(one.events)
      yield* more(100)
      yield* server.reload(authorization("second"))
      yield* until(() => one.log.some((line) => /Authorization Violation/i.test(line)))
      expect(yield* one.status).toMatch(/Authorization Violation.*"tone":"error"/i)
      expect(yield* one.status).toMatch(/"Not published","value":"\d+ event/)
      expect(yield* one.slice).toMatchObject({
        servers: server.url,
        link: { since: expect.any(String), problem: expect.stringMatching(/Authorization Violation/i) },
        waiting: { events: expect.any(Number), commands: 0 },
        failures: expect.any(Number)
      })
      yield* server.reload(authorization("first"))
      yield* more(100)
      yield* end
      yield* last
      expectExact(seen, accepted)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("connect again when expired credentials are replaced", () =>
    Effect.gen(function* () {
      const operator = makeOperator()
      const { directory, write } = yield* temporaryFolder({
        "user.creds": operator.credentials(Date.now() + 10_000).file
      })
      const { url } = yield* startNatsServer({ configuration: operator.configuration })
      const one = yield* startInstance({ servers: url, credentialsFile: `${directory}/user.creds` })
      const { seen } = yield* collect(one.events)
      yield* one.events.publish("before", 1)
      yield* until(() => one.log.some((line) => /expired|violation/i.test(line)))
      yield* write("user.creds", operator.credentials().file)
      yield* insist(one.events.publish("after", 2))
      yield* until(() => seen.length === 2)
      expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("show no secret on the command line, in the log or in the status", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer({ configuration: 'authorization { token: "first-token" }' })
      const { folder, write } = yield* makeProject
      yield* write(
        "vitrine.config.ts",
        `import { defineConfig, httpTransport } from "vitrine"
import * as nats from "vitrine/nats"
export default defineConfig({
  plugins: [httpTransport({ port: 0 })],
  services: nats.services({ servers: "${server.url}", token: process.env.NATS_TOKEN ?? "" })
})
`
      )
      const start = (token: string) =>
        runVitrine(["start", "--log-level", "debug"], { cwd: folder, env: { NATS_TOKEN: token } })
      const status = Effect.flatMap(runVitrine(["status"], { cwd: folder }), ({ ended }) => ended)

      const wrong = yield* start("wrong-token")
      yield* wrong.logged(/(Ready)/)
      yield* wrong.logged(/(Authorization Violation)/i)
      const away = yield* status
      expect(away.stdout).toMatch(/NATS[\s\S]*Connection +none to nats:.*Authorization Violation/i)
      yield* wrong.signal("SIGTERM")
      const right = yield* start("first-token")
      yield* right.logged(/(Ready)/)
      const there = yield* status
      expect(there.stdout).toMatch(/NATS[\s\S]*Connection +nats:\S+ since/)
      yield* server.reload('authorization { token: "second-token" }')
      yield* right.logged(/(Authorization Violation)/i)
      yield* right.signal("SIGTERM")
      const shown = JSON.stringify([away, there, yield* wrong.ended, yield* right.ended])
      expect(shown).not.toMatch(/wrong-token|first-token|second-token/)

      const missing = yield* Effect.flatMap(start(""), ({ ended }) => ended)
      expect(missing.status).toBe(1)
      expect(missing.stderr).toContain(
        "token: expected a text that is not empty (is the environment variable set? --env-file .env reads a file)"
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("read their options from the environment", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "cert.pem": certificates.named,
        "key.pem": certificates.key
      })
      const server = yield* startNatsServer({
        configuration: `${tlsOf(directory)}
authorization { user: vitrine, password: "from the environment" }`
      })
      const layer = nats.servicesConfig({
        servers: Config.string("NATS_URL"),
        user: Config.string("NATS_USER"),
        password: Config.redacted("NATS_PASSWORD"),
        tls: { caFile: Config.string("NATS_CA") }
      })
      const environment = new Map([
        ["NATS_URL", server.url.replace("nats://127.0.0.1", "tls://localhost")],
        ["NATS_USER", "vitrine"],
        ["NATS_PASSWORD", "from the environment"],
        ["NATS_CA", `${directory}/cert.pem`]
      ])
      const services = yield* Layer.build(layer).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(environment)),
        withLog([])
      )
      yield* Context.get(services, EventBus).publish("event", 1)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.each<readonly [string, string, string, string]>([
    ["name", certificates.named, "localhost", "127.0.0.1"],
    ["address", certificates.local, "127.0.0.1", "localhost"]
  ])("connect by TLS to a certificate for the %s in the URL alone", ([, certificate, host, other]) =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "cert.pem": certificate, "key.pem": certificates.key })
      const server = yield* startNatsServer({ configuration: tlsOf(directory) })
      const url = (host: string) => server.url.replace("nats://127.0.0.1", `tls://${host}`)
      const wary = yield* startInstance({ servers: url(host) })
      expect(wary.log).toEqual([
        expect.stringMatching(/^WARN NATS at .* cannot be used: self-signed certificate/)
      ])
      const tls = { caFile: `${directory}/cert.pem` }
      const misled = yield* startInstance({ servers: url(other), tls })
      expect(misled.log).toEqual([expect.stringMatching(/does not match certificate's altnames/)])
      const one = yield* startInstance({ servers: url(host), tls })
      yield* one.events.publish("event", 1)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("present their own certificate where the server requires one", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "cert.pem": certificates.local,
        "key.pem": certificates.key
      })
      const [caFile, keyFile] = [`${directory}/cert.pem`, `${directory}/key.pem`]
      const server = yield* startNatsServer({
        configuration: tlsOf(directory, `verify: true, ca_file: "${caFile}"`)
      })
      const servers = server.url.replace("nats:", "tls:")
      const unknown = yield* startInstance({ servers, tls: { caFile } })
      expect(unknown.log).toEqual([
        // The server closes the connection: its alert may be lost then.
        expect.stringMatching(
          /^WARN NATS at .*(does not accept the certificate of this client, or requires one|ECONNRESET)/
        )
      ])
      const missing = yield* startInstance({
        servers,
        tls: { caFile, certFile: `${directory}/none.pem`, keyFile }
      })
      expect(missing.log).toEqual([expect.stringMatching(/none\.pem doesn't exist/)])
      const known = yield* startInstance({ servers, tls: { caFile, certFile: caFile, keyFile } })
      yield* known.events.publish("event", 1)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("send nothing to a server without TLS where the URL requires it", () =>
    Effect.gen(function* () {
      let received = ""
      const port = yield* Effect.acquireRelease(
        Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
          const server = createServer((socket) => {
            socket.on("error", () => {})
            socket.on("data", (bytes) => {
              received += bytes.toString()
            })
            socket.write('INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576}\r\n')
          }).listen(0, "127.0.0.1", () => {
            const address = server.address()
            if (typeof address === "object" && address !== null) {
              resume(Effect.succeed({ port: address.port, close: () => server.close() }))
            }
          })
        }),
        ({ close }) => Effect.sync(close)
      ).pipe(Effect.map(({ port }) => port))
      const one = yield* startInstance({ servers: `tls://127.0.0.1:${port}`, user: "u", password: "secret" })
      expect(one.log).toEqual([expect.stringMatching(/server does not support 'tls'/)])
      expect(received).toBe("")
    })
  )

  it.scopedLive("use any server of a list, and name each that fails", () =>
    Effect.gen(function* () {
      const [one, other] = [
        yield* startNatsServer(),
        yield* startNatsServer({ configuration: "authorization { user: u, password: p }" })
      ]
      yield* one.signal("SIGKILL")
      const instance = yield* startInstance({ servers: [one.url, other.url] })
      yield* Effect.sleep("2 seconds")
      expect(instance.log).toHaveLength(1)
      for (const reason of [`${one.url}: connection refused`, `${other.url}: Authorization Violation`]) {
        expect(instance.log[0]).toContain(reason)
      }
      yield* one.start
      yield* insist(instance.events.publish("event", 1))
      expect(yield* instance.status).toContain(`"value":"${one.url} since `)
    })
  )
})
