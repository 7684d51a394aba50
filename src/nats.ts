/**
 * Vitrine for one controller in several processes: the event bus, the replay backlog and the command bus on NATS.
 *
 * It needs the packages `@nats-io/transport-node` and `@nats-io/jetstream`, and a NATS server with JetStream.
 */
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Layer from "effect/Layer"
import type { InvalidOptions } from "./internal/Options.ts"
import * as CommandBusNats from "./layers/nats/CommandBusNats.ts"
import * as EventBusNats from "./layers/nats/EventBusNats.ts"
import * as NatsConnection from "./layers/nats/NatsConnection.ts"
import type { NatsConfig } from "./layers/nats/NatsOptions.ts"
import * as ReplayBacklogNats from "./layers/nats/ReplayBacklogNats.ts"
import type { CommandBus } from "./services/CommandBus.ts"
import type { EventBus } from "./services/EventBus.ts"
import type { ReplayBacklog } from "./services/ReplayBacklog.ts"

export { CommandBusNats, EventBusNats, type NatsConfig, NatsConnection, ReplayBacklogNats }

/**
 * The services that the layers provide.
 *
 * @since 0.1.0
 * @category models
 */
export type Services = EventBus | ReplayBacklog | CommandBus

const onConnection = Layer.mergeAll(EventBusNats.layer, ReplayBacklogNats.layer, CommandBusNats.layer)

/**
 * All three services over one connection: the `services` of a configuration, or a Layer for your own program.
 *
 * @since 0.1.0
 * @category layers
 */
export const services = (config: NatsConfig = {}): Layer.Layer<Services, InvalidOptions> =>
  Layer.provide(onConnection, NatsConnection.layer(config))

/**
 * As `services`, with options from the environment: `{ token: Config.redacted("NATS_TOKEN") }`, for example.
 *
 * @since 0.1.0
 * @category layers
 */
export const servicesConfig = (
  config: Config.Config.Wrap<NatsConfig>
): Layer.Layer<Services, InvalidOptions | ConfigError> =>
  Layer.provide(onConnection, NatsConnection.layerConfig(config))
