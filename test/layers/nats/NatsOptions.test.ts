import { describe, expect, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { issuesOf } from "../../../src/internal/Options.ts"
import { decode, type NatsConfig } from "../../../src/layers/nats/NatsOptions.ts"
import * as nats from "../../../src/nats.ts"

const defaults = { servers: "nats://127.0.0.1:4222", prefix: "vitrine", replicas: 1 }

const seed = `SU${"A2".repeat(28)}`

describe("the options of NATS", () => {
  it("are all optional", () => {
    expect(decode({})).toEqual(Either.right(defaults))
  })

  it.each([
    ["servers", "tls://nats.example.org"],
    ["servers", ["nats://10.0.0.1:4222", "nats://[::1]:4222/"]],
    ["prefix", "museum-1_hall"],
    ["user", "vitrine"],
    ["nkeySeed", Redacted.make(seed)],
    ["credentialsFile", "/etc/vitrine/nats.creds"],
    ["tls", { caFile: "ca.pem" }],
    ["replicas", 3]
  ])("accept %s %j", (key, value) => {
    expect(decode({ [key]: value })).toEqual(Either.right({ ...defaults, [key]: value }))
  })

  it.each([
    ["servers", "http://127.0.0.1:4222"],
    ["servers", "nats://user:secret@127.0.0.1:4222"],
    ["servers", ["nats://secret@127.0.0.1:4222"]],
    ["servers", []],
    ["prefix", "a.b"],
    ["prefix", ""],
    ["token", ""],
    ["password", 12],
    ["replicas", 0],
    ["nkeySeed", `${seed}secret`],
    ["nkeySeed", seed.toLowerCase()],
    ["tls", "ca.pem"],
    ["tls", { ca: "ca.pem" }],
    ["tls", { certFile: "cert.pem" }]
  ])("reject %s %j, and show no secret", (key, value) => {
    const issues = issuesOf(decode({ [key]: value }))
    expect(issues.map(({ path }) => path.slice(0, key.length))).toContain(key)
    expect(JSON.stringify(issues)).not.toContain("secret")
  })

  it.each<readonly [NatsConfig, string]>([
    [{ token: "secret", user: "vitrine" }, "token and user: only one of them can be used"],
    [
      { nkeySeed: seed, credentialsFile: "a.creds" },
      "credentialsFile and nkeySeed: only one of them can be used"
    ],
    [{ password: "secret" }, "user: is required with a password"],
    [{ tls: { keyFile: "key.pem" } }, "tls: certFile and keyFile belong together"]
  ])("reject %j together", (config, message) => {
    const error = Either.getOrThrow(Either.flip(decode(config)))
    expect(error.message).toContain(message)
    expect(error.message).not.toContain("secret")
  })

  it("do not show secrets", () => {
    const decoded = Either.getOrThrow(decode({ user: "vitrine", password: Redacted.make("secret") }))
    expect(JSON.stringify(decoded)).not.toContain("secret")
  })

  it.effect("can come from the environment", () =>
    Effect.gen(function* () {
      const layer = nats.servicesConfig({ prefix: Config.string("NATS_PREFIX") })
      const provider = ConfigProvider.fromMap(new Map([["NATS_PREFIX", "a b"]]))
      const error = yield* Effect.flip(
        Effect.scoped(Layer.build(layer)).pipe(Effect.withConfigProvider(provider))
      )
      expect(error.message).toContain("prefix: expected up to 64 letters")
    })
  )
})
