/**
 * The other parts of the controller: event streams for screens. There may be any number of them.
 */
import { defineConfig, httpTransport } from "vitrine"
import * as nats from "vitrine/nats"

const { env } = process

export default defineConfig({
  plugins: [httpTransport({ port: Number(env.TRANSPORT_PORT ?? 8711) })],
  services: nats.services({ servers: `nats://127.0.0.1:${env.NATS_PORT ?? 4222}` })
})
