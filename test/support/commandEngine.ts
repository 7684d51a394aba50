/**
 * A command bus of several instances: each is a connection to an engine, over which commands, results and errors go as
 * JSON.
 */
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { CommandBus, CommandBusMemory, ErrorChain } from "../../src/index.ts"

/** To the engine; one with an `id` is replied to. */
type Request =
  | { readonly do: "register" | "unregister"; readonly id: number; readonly type: string }
  | { readonly do: "types"; readonly id: number }
  | { readonly do: "dispatch"; readonly id: number; readonly command: CommandBus.Command }
  | { readonly do: "cancel"; readonly id: number }
  | { readonly do: "settle"; readonly call: number; readonly exit: string }

/** From the engine: a reply to a request, or a command to carry out. */
type Message =
  | { readonly id: number; readonly done: Reply }
  | { readonly call: number; readonly command: CommandBus.Command }
  | { readonly cancel: number }

type Reply =
  | { readonly is: "ok" | "taken" | "unknown" | "lost" }
  | { readonly is: "types"; readonly types: ReadonlyArray<string> }
  | { readonly is: "settled"; readonly exit: string }

const DispatchExit = Schema.parseJson(
  Schema.Exit({ success: Schema.Unknown, failure: CommandBus.DispatchError, defect: ErrorChain })
)

const send = (socket: Socket, message: Request | Message) => socket.write(`${JSON.stringify(message)}\n`)

/** By line feeds only: `readline` ends a line at U+2028 as well, which JSON may have in a text. */
const onMessage = <A>(socket: Socket, handle: (message: A) => void) => {
  let rest = ""
  return socket
    .setEncoding("utf8")
    .on("error", () => {})
    .on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        handle(JSON.parse(line))
      }
    })
}

/** Knows who has registered what, and who waits for whom. A connection that ends takes its registrations along. */
const serve = (owners: Map<string, Socket>, waiting: Map<number, Waiting>) => (socket: Socket) => {
  onMessage<Request>(socket, (request) => {
    const reply = (done: Reply) => "id" in request && send(socket, { id: request.id, done })
    switch (request.do) {
      case "register":
        if (owners.has(request.type)) {
          reply({ is: "taken" })
        } else {
          owners.set(request.type, socket)
          reply({ is: "ok" })
        }
        break
      case "unregister":
        owners.delete(request.type)
        reply({ is: "ok" })
        break
      case "types":
        reply({ is: "types", types: [...owners.keys()].sort() })
        break
      case "dispatch": {
        const owner = owners.get(request.command.type)
        if (owner === undefined) {
          reply({ is: "unknown" })
        } else {
          const call = nextCall++
          waiting.set(call, { caller: socket, id: request.id, owner })
          send(owner, { call, command: request.command })
        }
        break
      }
      case "cancel":
        for (const [call, { caller, id, owner }] of waiting) {
          if (caller === socket && id === request.id) send(owner, { cancel: call })
        }
        break
      case "settle": {
        const one = waiting.get(request.call)
        waiting.delete(request.call)
        if (one !== undefined) {
          send(one.caller, { id: one.id, done: { is: "settled", exit: request.exit } })
        }
      }
    }
  })
  socket.on("close", () => {
    for (const [type, owner] of owners) {
      if (owner === socket) owners.delete(type)
    }
    for (const [call, { caller, id, owner }] of waiting) {
      if (owner === socket) {
        waiting.delete(call)
        send(caller, { id, done: { is: "lost" } })
      }
    }
  })
}

interface Waiting {
  readonly caller: Socket
  readonly id: number
  readonly owner: Socket
}

let nextCall = 0

/** An engine until the scope ends, by its port. */
export const startEngine = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer(serve(new Map(), new Map())).listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** A bus of the engine. `lose` ends its connection without a word. */
export const makeBus = Effect.fnUntraced(function* (port: number) {
  const local = yield* CommandBusMemory.make
  const fork = Runtime.runFork(yield* Effect.runtime())
  const socket = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(port, "127.0.0.1")
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
  const replies = new Map<number, Deferred.Deferred<Reply>>()
  const running = new Map<number, Fiber.RuntimeFiber<unknown, unknown>>()

  const execute = (call: number, command: CommandBus.Command) =>
    local.dispatch(command).pipe(
      Effect.exit,
      Effect.flatMap(Schema.encode(DispatchExit)),
      Effect.map((exit) => send(socket, { do: "settle", call, exit })),
      Effect.ensuring(Effect.sync(() => running.delete(call)))
    )

  onMessage<Message>(socket, (message) => {
    if ("call" in message) {
      running.set(message.call, fork(execute(message.call, message.command)))
    } else if ("cancel" in message) {
      const fiber = running.get(message.cancel)
      if (fiber !== undefined) fork(Fiber.interrupt(fiber))
    } else {
      const reply = replies.get(message.id)
      if (reply !== undefined) Deferred.unsafeDone(reply, Effect.succeed(message.done))
    }
  })
  socket.on("close", () => {
    for (const reply of replies.values()) Deferred.unsafeDone(reply, Effect.succeed({ is: "lost" }))
  })

  let nextId = 0
  const ask = (makeRequest: (id: number) => Request): Effect.Effect<Reply> =>
    Effect.suspend(() => {
      const id = nextId++
      const reply = Deferred.unsafeMake<Reply>(FiberId.none)
      if (socket.destroyed) return Effect.succeed<Reply>({ is: "lost" })
      replies.set(id, reply)
      send(socket, makeRequest(id))
      return Deferred.await(reply).pipe(
        Effect.onInterrupt(() => Effect.sync(() => send(socket, { do: "cancel", id }))),
        Effect.ensuring(Effect.sync(() => replies.delete(id)))
      )
    })

  const types = Effect.map(
    ask((id) => ({ do: "types", id })),
    (reply) => (reply.is === "types" ? reply.types : [])
  )

  const lease = (type: string) =>
    Effect.acquireRelease(
      Effect.flatMap(
        ask((id) => ({ do: "register", id, type })),
        ({ is }) => (is === "taken" ? new CommandBus.CommandAlreadyRegistered({ type }) : Effect.void)
      ),
      () => ask((id) => ({ do: "unregister", id, type }))
    )

  const outcomeOf = (reply: Reply, type: string): Effect.Effect<unknown, CommandBus.DispatchError> => {
    switch (reply.is) {
      case "settled":
        return Effect.flatten(Effect.orDie(Schema.decode(DispatchExit)(reply.exit)))
      case "unknown":
        return Effect.flatMap(types, (known) => new CommandBus.UnknownCommand({ type, known }))
      default:
        return new CommandBus.CommandUnavailable({ type, reason: "lost", mayHaveRun: true })
    }
  }

  const bus = CommandBus.CommandBus.of({
    types,
    register: (handler) =>
      Effect.gen(function* () {
        const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
        yield* local.register(handler).pipe(
          Effect.zipRight(lease(handler.type)),
          Scope.extend(scope),
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
      }),
    dispatch: (command, { timeout } = {}) => {
      const { type } = command
      const dispatched = Effect.flatMap(
        ask((id) => ({ do: "dispatch", id, command })),
        (reply) => outcomeOf(reply, type)
      )
      return timeout === undefined
        ? dispatched
        : Effect.timeoutFail(dispatched, {
            duration: timeout,
            onTimeout: () => new CommandBus.CommandUnavailable({ type, reason: "timeout", mayHaveRun: true })
          })
    }
  })
  return { bus, lose: Effect.sync(() => socket.destroy()) }
})
