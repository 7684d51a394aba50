import { chown, mkdir, symlink } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import { dirname } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as IpcClientSocket from "../../../src/layers/ipc/IpcClientSocket.ts"
import { isTrustedOwner } from "../../../src/layers/ipc/trustedOwner.ts"
import { CommandRefused, IpcClient } from "../../../src/services/IpcClient.ts"
import { scenario, start, temporaryFolder } from "../../support/ipc.ts"
import { somebodySleeps } from "../../support/waiting.ts"

/** A client, and what it talks to: something that does as it likes with each connection, and with what it is sent. */
const talkingTo = (behave: (socket: Socket, received: string) => void) =>
  Effect.gen(function* () {
    const path = `${yield* temporaryFolder}/socket`
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {}).on("data", (data) => behave(socket, String(data)))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(path, () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    return { client: yield* IpcClientSocket.make(path), path, close: server.close.bind(server) }
  })

const answering = (line: string) => talkingTo((socket) => socket.write(`${line}\n`))

describe("the client of a controller's socket", () => {
  scenario(
    "says that no controller is running where nobody listens",
    Effect.gen(function* () {
      const path = `${yield* temporaryFolder}/.vitrine/controller.sock`
      const client = yield* IpcClientSocket.make(path)
      const questions = [
        client.process,
        client.status,
        client.state,
        client.stop,
        client.dispatch({ type: "a" })
      ]
      for (const question of [...questions, Effect.scoped(client.events)]) {
        expect(yield* Effect.flip(question)).toMatchObject({
          _tag: "vitrine/ControllerNotRunning",
          message: `No controller is running here: nobody listens at ${path}.`
        })
      }
    })
  )

  scenario(
    "is found by the folder of the configuration",
    Effect.gen(function* () {
      const { configurationFolder } = yield* start
      const { process } = yield* Effect.provide(IpcClient, IpcClientSocket.layerOfFolder(configurationFolder))
      expect(yield* process).toEqual({ pid: globalThis.process.pid })
    })
  )

  scenario(
    "gives up one that does not answer after five seconds, a command included",
    Effect.gen(function* () {
      const { client } = yield* talkingTo(() => {})
      for (const question of [client.status, client.dispatch({ type: "a" }), Effect.scoped(client.events)]) {
        const asking = yield* Effect.fork(Effect.flip(question))
        yield* somebodySleeps
        yield* TestClock.adjust("5 seconds")
        expect(yield* Fiber.join(asking)).toMatchObject({
          _tag: "vitrine/ControllerUnresponsive",
          seconds: 5
        })
      }
    })
  )

  scenario(
    "waits for a command as long as it takes",
    Effect.gen(function* () {
      const { client } = yield* talkingTo((socket, received) => {
        if (received.includes('"process"')) {
          socket.write('{"jsonrpc":"2.0","id":1,"result":{"pid":1}}\n')
        } else {
          asked(socket)
        }
      })
      let asked: (socket: Socket) => void = () => {}
      const socket = new Promise<Socket>((resolve) => {
        asked = resolve
      })
      const asking = yield* Effect.fork(client.dispatch({ type: "a" }))
      const answer = yield* Effect.promise(() => socket)
      yield* TestClock.adjust("1 day")
      answer.write('{"jsonrpc":"2.0","id":1,"result":"done"}\n')
      expect(yield* Fiber.join(asking)).toBe("done")
    })
  )

  scenario(
    "says that the connection was lost where it ends before the answer",
    Effect.gen(function* () {
      for (const end of ["end", "destroy"] as const) {
        const { client } = yield* talkingTo((socket) => socket[end]())
        expect(yield* Effect.flip(client.status)).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
        expect(yield* Effect.flip(Effect.scoped(client.events))).toMatchObject({
          _tag: "vitrine/IpcConnectionLost"
        })
      }
    })
  )

  scenario(
    "takes nothing that no line feed ends for an answer, though it can be understood",
    Effect.gen(function* () {
      const { client } = yield* talkingTo((socket) =>
        socket.end('{"jsonrpc":"2.0","id":1,"result":{"pid":1}}')
      )
      expect(yield* Effect.flip(client.process)).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
    })
  )

  const strange: ReadonlyArray<readonly [string, string]> = [
    ["HTTP/1.1 400 Bad Request", "no JSON-RPC"],
    ['{"jsonrpc":"2.0","id":1,"result":{"sections":[]}}', 'its answer to "status" is not understood'],
    [
      '{"jsonrpc":"2.0","id":1,"result":{"header":{"startTime":"","uptimeMs":0,"mode":"task"},"sections":[{"name":"","title":"","rows":[{"type":{"toString":0}}]}]}}',
      'its answer to "status" is not understood'
    ],
    ['{"jsonrpc":"2.0","id":1}', "no JSON-RPC"],
    [
      '{"jsonrpc":"2.0","method":"event","params":{"name":"a","payload":1}}',
      "an event where an answer was due"
    ],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"There is no method."}}',
      "There is no method."
    ],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"refused"}}', "refused"]
  ]
  for (const [line, detail] of strange) {
    scenario(
      `says what it does not understand: ${line}`,
      Effect.gen(function* () {
        const { client } = yield* answering(line)
        const error = yield* Effect.flip(client.status)
        expect(error._tag).toBe("vitrine/IpcProtocolError")
        expect(error.message).toContain(detail)
      })
    )
  }

  scenario(
    "has the events that come together with the answer, and says what breaks them off",
    Effect.gen(function* () {
      const event = (name: string) =>
        `{"jsonrpc":"2.0","method":"event","params":{"name":"${name}","payload":{}}}`
      for (const [last, tag] of [
        ["", "vitrine/IpcConnectionLost"],
        [event("c"), "vitrine/IpcConnectionLost"],
        ["garbage\n", "vitrine/IpcProtocolError"],
        ['{"jsonrpc":"2.0","id":2,"result":null}\n', "vitrine/IpcProtocolError"]
      ]) {
        const { client } = yield* talkingTo((socket) =>
          socket.end(`{"jsonrpc":"2.0","id":1,"result":null}\n${event("a")}\n${event("b")}\n${last}`)
        )
        const names: Array<string> = []
        const events = yield* client.events
        const error = yield* Effect.flip(
          Stream.runForEach(events, ({ name }) => Effect.sync(() => names.push(name)))
        )
        expect(names).toEqual(["a", "b"])
        expect(error._tag).toBe(tag)
      }
    })
  )

  scenario(
    "takes a refusal of a command without a description for what it says",
    Effect.gen(function* () {
      const { client } = yield* talkingTo((socket, received) =>
        socket.write(
          received.includes('"process"')
            ? '{"jsonrpc":"2.0","id":1,"result":{"pid":1}}\n'
            : '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":7}}\n'
        )
      )
      const error = yield* Effect.flip(client.dispatch({ type: "a" }))
      expect(error).toEqual(new CommandRefused({ description: { name: "Error", message: "no" } }))
    })
  )

  it("trusts its own user, and as root everybody", () => {
    const trusts = (own: number, uid: number) =>
      Effect.runSync(
        asUser(
          own,
          Effect.sync(() => isTrustedOwner(uid))
        )
      )
    expect([trusts(1000, 1000), trusts(0, 1000)]).toEqual([true, true])
    expect([trusts(1000, 1001), trusts(1000, 0)]).toEqual([false, false])
  })

  scenario(
    "does not talk to another user's socket",
    Effect.gen(function* () {
      const { client, path } = yield* talkingTo(() => {})
      // Root's is everybody's.
      const uid = process.getuid?.() || 4243
      yield* Effect.promise(() => chown(path, uid, -1))
      const error = yield* asUser(4242, Effect.flip(client.status))
      expect(error.message).toBe(
        `The controller cannot be reached at ${path}: it belongs to user ${uid}. Ask as the user who started the controller.`
      )
    })
  )

  scenario(
    "follows no link to the socket of another controller, nor to its folder",
    Effect.gen(function* () {
      const { client, socket } = yield* start
      yield* client.status
      const folder = yield* temporaryFolder
      yield* Effect.promise(async () => {
        await symlink(dirname(socket), `${folder}/linked`)
        await mkdir(`${folder}/own`)
        await symlink(socket, `${folder}/own/controller.sock`)
      })
      for (const path of [`${folder}/linked/controller.sock`, `${folder}/own/controller.sock`]) {
        const error = yield* Effect.flip(Effect.flatMap(IpcClientSocket.make(path), ({ stop }) => stop))
        expect(error.message).toBe(
          `The controller cannot be reached at ${path}: a link leads there, perhaps to another controller. Remove it.`
        )
      }
      yield* client.status
    })
  )
})

/** As if the process were the user's. */
const asUser = <A, E>(uid: number, effect: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { getuid } = process
      Object.assign(process, { getuid: () => uid })
      return getuid
    }),
    () => effect,
    (getuid) => Effect.sync(() => Object.assign(process, { getuid }))
  )
