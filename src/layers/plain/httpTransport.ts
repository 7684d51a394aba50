/**
 * A shim: it adapts the HTTP transport into the plain plugin interface, from its setup until it is disconnected.
 *
 * It owns the lifetime: everything belongs to one scope and ends with it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { err, ok, type Result, ResultAsync } from "neverthrow"
import { ErrorChain, messageOf } from "../../internal/SerializedError.ts"
import { PluginSetupFailed } from "../../services/Plugin.ts"
import { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import * as HttpTransport from "../httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../httpTransport/HttpTransportConfig.ts"
import * as ReplayBacklogMemory from "../memory/ReplayBacklogMemory.ts"
import { checkContext } from "./CheckContext.ts"
import type { HttpTransportInstance, HttpTransportPlugin, PlainContext } from "./plainController.ts"
import { withPlainLogger } from "./plainLogger.ts"
import { makeServices } from "./plainServices.ts"

/**
 * Exposes the commands and the events of a plain controller over loopback HTTP and Server-Sent Events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const httpTransport = (options: HttpTransportConfig = {}): HttpTransportPlugin => ({
  name,
  setup: (context) => setUp(options, context)
})

const name = "http-transport"

/** Not a layer: building a layer takes a turn, in which the controller may emit events. */
const open = (options: HttpTransportConfig) =>
  Effect.suspend(() => HttpTransport.make(options)).pipe(
    Effect.provideServiceEffect(ReplayBacklog, ReplayBacklogMemory.make),
    Effect.map(({ address }) => Option.getOrNull(address))
  )

/**
 * Opens the transport, and closes it when it is disconnected or the controller aborts.
 *
 * Never throws: every failure, also of the context, is an `err`, and then all resources are released. When it returns, the setup
 * has run until it waits for the first time.
 */
const setUp = (
  options: HttpTransportConfig,
  context: PlainContext
): ResultAsync<HttpTransportInstance, Error> => {
  const scope = Effect.runSync(Scope.make())
  const logged = withPlainLogger(context)

  const release = async (reason: unknown): Promise<Result<void, Error>> => {
    // Code that the setup calls may abort the signal.
    await Promise.resolve()
    const why = Predicate.isNullable(reason) || reason === "" ? "." : `: ${messageOf(reason)}`
    const exit = await Effect.logDebug(`The plugin "${name}" shuts down${why}`).pipe(
      Effect.zipRight(Fiber.interrupt(setup)),
      Effect.zipRight(Scope.close(scope, Exit.void)),
      Effect.tapErrorCause((cause) =>
        Effect.logError(`The plugin "${name}" did not shut down cleanly`, cause)
      ),
      logged,
      Effect.runPromiseExit
    )
    return Exit.isSuccess(exit)
      ? ok(undefined)
      : err(new PluginShutdownFailed({ plugin: name, cause: Cause.squash(exit.cause) }))
  }
  let released: Promise<Result<void, Error>> | undefined
  const releaseOnce = (reason: unknown) => {
    released ??= release(reason)
    return released
  }

  const setup = Effect.suspend(() => checkContext(context)).pipe(
    Effect.zipRight(Effect.suspend(() => watch(context.abortSignal, releaseOnce))),
    Effect.zipRight(Effect.suspend(() => makeServices(context))),
    Effect.flatMap((services) => Effect.provide(open(options), services)),
    Scope.extend(scope),
    logged,
    Effect.runFork
  )

  const settle = async (): Promise<Result<HttpTransportInstance, Error>> => {
    const exit = await Effect.runPromise(Fiber.await(setup))
    if (Exit.isSuccess(exit)) {
      return ok({ address: exit.value, disconnect: (reason) => new ResultAsync(releaseOnce(reason)) })
    }
    const cause = Cause.isInterruptedOnly(exit.cause) ? new ControllerStops() : Cause.squash(exit.cause)
    await releaseOnce(cause)
    return err(new PluginSetupFailed({ plugin: name, cause }))
  }
  return new ResultAsync(settle())
}

/** The controller was aborted before the plugin was set up. */
class ControllerStops extends Schema.TaggedError<ControllerStops>()("vitrine/ControllerStops", {}) {
  override get message() {
    return "The controller stops."
  }
}

/** A resource could not be released; all others were released. */
class PluginShutdownFailed extends Schema.TaggedError<PluginShutdownFailed>()(
  "vitrine/PluginShutdownFailed",
  {
    plugin: Schema.String,
    cause: ErrorChain
  }
) {
  override get message() {
    return `The plugin "${this.plugin}" did not shut down cleanly. ${messageOf(this.cause)}`
  }
}

/** Waits until the signal is aborted, while the scope is open; fails if it is aborted already. */
const watch = (signal: AbortSignal, onAbort: (reason: unknown) => void) =>
  Effect.suspend(() => {
    if (signal.aborted) {
      return new ControllerStops()
    }
    const listener = () => onAbort(signal.reason)
    return Effect.acquireRelease(
      Effect.sync(() => signal.addEventListener("abort", listener)),
      () => Effect.sync(() => signal.removeEventListener("abort", listener))
    )
  })
