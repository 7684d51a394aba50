/**
 * What lets clients into a NATS server: nkeys, and credentials files of an operator of one's own.
 */
import { nkeys } from "@nats-io/transport-node"

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** A new user: the key that the server knows, and the seed that the client has. */
export const makeNkey = () => {
  const user = nkeys.createUser()
  return { publicKey: user.getPublicKey(), seed: text(user.getSeed()) }
}

type KeyPair = ReturnType<typeof nkeys.createUser>

/** A JWT as NATS signs them: https://docs.nats.io/running-a-nats-service/nats_admin/security/jwt */
const sign = (issuer: KeyPair, subject: KeyPair, claims: object, expiresAt?: number): string => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const body = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode({
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: "test",
    ...(expiresAt === undefined ? {} : { exp: Math.floor(expiresAt / 1000) }),
    nats: claims
  })}`
  return `${body}.${Buffer.from(issuer.sign(new TextEncoder().encode(body))).toString("base64url")}`
}

const unlimited = { subs: -1, data: -1, payload: -1 }

/** An operator with an account that may use JetStream: the configuration of its server, and credentials files for it. */
export const makeOperator = () => {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()]
  const limits = { ...unlimited, imports: -1, exports: -1, conn: -1, leaf: -1 }
  const jetStream = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const accountClaims = (of: object) => ({ type: "account", version: 2, limits: of })
  return {
    configuration: `operator: ${sign(operator, operator, { type: "operator", version: 2 })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${account.getPublicKey()}: ${sign(operator, account, accountClaims({ ...limits, ...jetStream }))}
  ${system.getPublicKey()}: ${sign(operator, system, accountClaims(limits))}
}`,
    /** The file, and the seed in it. */
    credentials: (expiresAt?: number) => {
      const user = nkeys.createUser()
      const seed = text(user.getSeed())
      const jwt = sign(account, user, { type: "user", version: 2, ...unlimited }, expiresAt)
      return {
        seed,
        jwt,
        file: `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`
      }
    }
  }
}
