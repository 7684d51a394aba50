/**
 * A small controller without Effect in it, as others write them: the plugins that it runs know nothing of each other.
 */
import { err, errAsync, ok, ResultAsync } from "neverthrow"
import type { PlainContext, PlainEventHandler } from "../../src/plain.ts"

type Command = Parameters<PlainContext["dispatchCommand"]>[0]
type GlobalState = ReturnType<PlainContext["getGlobalState"]>

export interface PlainPlugin<Instance extends PlainInstance = PlainInstance> {
  readonly name: string
  readonly setup: (context: PlainContext) => ResultAsync<Instance, Error>
}

export interface PlainInstance {
  /** When every plugin is set up. */
  readonly ready?: () => void
  readonly disconnect?: (reason: string) => ResultAsync<void, Error>
}

export interface PlainController {
  /** What plugins of that name are given. */
  readonly contextOf: (plugin: string) => PlainContext
  readonly setUp: <I extends PlainInstance>(plugin: PlainPlugin<I>) => ResultAsync<I, Error>
  /** Sets all of them up, one after the other, and makes them ready. */
  readonly start: (plugins: ReadonlyArray<PlainPlugin>) => ResultAsync<void, Error>
  readonly stop: (reason: string) => ResultAsync<void, Error>
  readonly abort: (reason: string) => void
  readonly emit: (name: string, payload: unknown) => void
  readonly register: (type: string, run: (command: Command) => ResultAsync<unknown, unknown>) => void
  readonly state: () => GlobalState
  /** Handlers on the event bus now. */
  readonly handlers: () => ReadonlyArray<PlainEventHandler>
  /** What was logged: `WARN …`. */
  readonly lines: ReadonlyArray<string>
}

export const startTime = "2026-03-01T12:00:00.000Z"

export const makePlainController = (mode: PlainContext["mode"] = "persistent"): PlainController => {
  const aborting = new AbortController()
  const eventBus = makeEventBus()
  const lines: Array<string> = []
  const commands = new Map<string, (command: Command) => ResultAsync<unknown, unknown>>()
  const instances: Array<PlainInstance> = []
  let state: GlobalState = { system: { startTime, mode }, plugins: {}, _version: 0 }

  const log = (level: string) => (message: string) => void lines.push(`${level} ${message}`)

  const contextOf = (plugin: string): PlainContext => ({
    eventBus,
    logger: {
      error: log("ERROR"),
      warn: log("WARN"),
      info: log("INFO"),
      debug: log("DEBUG"),
      verbose: log("VERBOSE")
    },
    abortSignal: aborting.signal,
    mode,
    getStatusSnapshot: () => ({
      header: { startTime, uptimeMs: 1, mode },
      sections: [{ name: "plain", title: "Plain", rows: [{ type: "text", text: "all is well", tone: "ok" }] }]
    }),
    getGlobalState: () => state,
    dispatchCommand: (command) =>
      commands.get(command.type)?.(command) ?? errAsync(new Error(`no command ${command.type}`)),
    updateState: (producer) => {
      const { plugins, system, _version } = state
      state = {
        system,
        plugins: { ...plugins, [plugin]: producer(plugins[plugin]) },
        _version: _version + 1
      }
    }
  })

  const setUp = <I extends PlainInstance>(plugin: PlainPlugin<I>) =>
    plugin.setup(contextOf(plugin.name)).andTee((instance) => instances.push(instance))

  const serialized = (steps: ReadonlyArray<() => ResultAsync<unknown, Error>>) =>
    new ResultAsync<void, Error>(
      (async () => {
        for (const step of steps) {
          const result = await step()
          if (result.isErr()) {
            return err(result.error)
          }
        }
        return ok(undefined)
      })()
    )

  return {
    contextOf,
    setUp,
    start: (plugins) =>
      serialized(plugins.map((plugin) => () => setUp(plugin))).andTee(() => {
        for (const { ready } of instances) {
          ready?.()
        }
      }),
    stop: (reason) =>
      serialized(
        instances
          .reverse()
          .flatMap(({ disconnect }) => (disconnect === undefined ? [] : [() => disconnect(reason)]))
      ),
    abort: (reason) => aborting.abort(reason),
    emit: eventBus.emit,
    register: (type, run) => void commands.set(type, run),
    state: () => state,
    handlers: eventBus.handlers,
    lines
  }
}

/** Calls its handlers within `emit`, in the order in which they came; one that throws does not keep others from theirs. */
const makeEventBus = () => {
  const handlers = new Set<PlainEventHandler>()
  return {
    handlers: (): ReadonlyArray<PlainEventHandler> => [...handlers],
    onAny: (handler: PlainEventHandler) => void handlers.add(handler),
    offAny: (handler: PlainEventHandler) => void handlers.delete(handler),
    emit: (name: string, payload: unknown) => {
      for (const handler of [...handlers]) {
        try {
          handler(name, payload)
        } catch {
          // As a controller does that logs it.
        }
      }
    }
  }
}
