/**
 * A plugin: publishes the active version as a retained MQTT message, which subscribers get at once.
 */
import { Effect, Layer, Stream } from "effect"
import { connect } from "mqtt"
import { ControllerState, EventBus, Plugin } from "vitrine"

export const mqttPublisher = ({ topic, url }: { readonly topic: string; readonly url: string }) => {
  const publishing = Effect.gen(function* () {
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => connect(url)),
      (client) => Effect.promise(() => client.endAsync(true))
    )
    let version = ""
    // While the broker is away, only the latest version waits. The client reconnects by itself.
    const publish = () =>
      void (version && client.connected && client.publish(topic, version, { retain: true }))
    client.on("connect", publish).on("error", () => {})

    const { register } = yield* ControllerState.ControllerState
    const broker = () => (client.connected ? "connected" : `${url} is away`)
    yield* register({
      name: "mqtt",
      live: Effect.sync(() => ({ isConnected: client.connected })),
      report: () => ({
        sections: [{ name: "mqtt", title: "MQTT", rows: [{ type: "kv", label: "Broker", value: broker() }] }]
      })
    })

    const events = yield* (yield* EventBus.EventBus).subscribe
    const promoted = Stream.filter(events, ({ name }) => name === "content:version:promoted")
    const remember = ({ payload }: { readonly payload: unknown }) =>
      Effect.sync(() => {
        version = JSON.stringify(payload)
        publish()
      })
    yield* Effect.forkScoped(Effect.tapErrorCause(Stream.runForEach(promoted, remember), Effect.logWarning))
  })
  return Plugin.fromLayer("mqtt", Layer.scopedDiscard(publishing))
}
