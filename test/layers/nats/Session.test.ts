import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { decode } from "../../../src/layers/nats/NatsOptions.ts"
import { open } from "../../../src/layers/nats/Session.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

/** A file with a token and a seed between the lines that `nsc` writes. */
const credentials = (token: string, seed: string) =>
  [
    "-----BEGIN NATS USER JWT-----",
    token,
    "------END NATS USER JWT------",
    "",
    "-----BEGIN USER NKEY SEED-----",
    seed,
    "------END USER NKEY SEED------",
    ""
  ].join("\n")

it.scoped("a session names a credentials file that cannot be used, and shows nothing of it", () =>
  Effect.gen(function* () {
    for (const content of ["very-secret", credentials("very-secret", "SUVERYSECRET")]) {
      const { directory } = yield* temporaryFolder({ "hall.creds": content })
      const options = yield* decode({ credentialsFile: `${directory}/hall.creds` })
      const { message } = yield* Effect.flip(open(options))
      expect(message).toContain(`the credentials file ${directory}/hall.creds cannot be read: `)
      expect(message.toLowerCase()).not.toContain("secret")
    }
  }).pipe(Effect.provide(NodeContext.layer))
)
