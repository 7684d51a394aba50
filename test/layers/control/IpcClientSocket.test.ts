import { chown, mkdir, symlink } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import { dirname } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { isTrustedOwner } from "../../../src/layers/control/controllerPaths.ts"
import * as IpcClientSocket from "../../../src/layers/control/IpcClientSocket.ts"
import { CommandRefused, IpcClient } from "../../../src/services/IpcClient.ts"
import { scenario, start, temporaryFolder } from "../../support/control.ts"
import { somebodySleeps } from "../../support/waiting.ts"

/** A client, and its server: `behave` gets each connection, and the data that it received. */
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

/** The exact bytes of a response. */
const response = (body: string, status = "200 OK") =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const isProcess = (received: string) => received.startsWith("GET /process ")

describe("the client of a controller's socket", () => {
  scenario(
    "reports that no controller is running if the socket does not answer",
    Effect.gen(function* () {
      const path = `${yield* temporaryFolder}/.vitrine/controller.sock`
      const client = yield* IpcClientSocket.make(path)
      const questions = [
        client.process,
        client.view,
        client.stop("anna@desk"),
        client.dispatch({ type: "a" })
      ]
      for (const question of [...questions, Effect.scoped(client.events)]) {
        expect(yield* Effect.flip(question)).toMatchObject({
          _tag: "vitrine/ControllerNotRunning",
          message: `No controller is running here: nothing listens at ${path}. "vitrine start" starts one.`
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
    "fails after five seconds without a response, for a command too",
    Effect.gen(function* () {
      const { client } = yield* talkingTo(() => {})
      for (const question of [client.view, client.dispatch({ type: "a" }), Effect.scoped(client.events)]) {
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
    "ends its connection at once if the work beside it fails",
    Effect.gen(function* () {
      let asked = () => {}
      let left = () => {}
      const hasAsked = new Promise<void>((resolve) => {
        asked = resolve
      })
      const hasLeft = new Promise<void>((resolve) => {
        left = resolve
      })
      const { client } = yield* talkingTo((socket) => {
        socket.once("close", left)
        asked()
      })
      const other = Effect.zipRight(
        Effect.promise(() => hasAsked),
        Effect.fail("other")
      )
      expect(yield* Effect.flip(Effect.all([client.view, other], { concurrency: "unbounded" }))).toBe("other")
      yield* Effect.promise(() => hasLeft)
    })
  )

  scenario(
    "waits for an accepted command without a limit",
    Effect.gen(function* () {
      let asked: (socket: Socket) => void = () => {}
      const socket = new Promise<Socket>((resolve) => {
        asked = resolve
      })
      const { client } = yield* talkingTo((socket, received) =>
        isProcess(received) ? socket.write(response('{"pid":1}')) : asked(socket)
      )
      const asking = yield* Effect.fork(client.dispatch({ type: "a" }))
      const answer = yield* Effect.promise(() => socket)
      yield* TestClock.adjust("1 day")
      answer.write(response('{"result":"done"}'))
      expect(yield* Fiber.join(asking)).toBe("done")
    })
  )

  scenario(
    "reports a lost connection if it ends before the response",
    Effect.gen(function* () {
      const partly = response('{"pid":1}').slice(0, -1)
      for (const said of ["", partly.slice(0, 20), partly]) {
        for (const end of ["end", "destroy"] as const) {
          const { client } = yield* talkingTo((socket) => {
            socket.write(said, () => socket[end]())
          })
          expect([said, yield* Effect.flip(client.process)]).toMatchObject([
            said,
            { _tag: "vitrine/IpcConnectionLost" }
          ])
        }
      }
    })
  )

  scenario(
    "explains what to do if a controller of an earlier version answers with JSON-RPC",
    Effect.gen(function* () {
      const { client, path } = yield* talkingTo((socket, received) => {
        for (const _ of received.split("\r\n")) {
          socket.write(
            '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is not valid JSON."}}\n'
          )
        }
      })
      const questions = [client.view, client.dispatch({ type: "a" }), Effect.scoped(client.events)]
      for (const question of questions) {
        expect(yield* Effect.flip(question)).toMatchObject({
          _tag: "vitrine/IpcProtocolError",
          message: `The controller at ${path} cannot be reached: it does not speak HTTP. Perhaps an earlier version of Vitrine has started it: end its process, whose id is in controller.pid, and start it again.`
        })
      }
    })
  )

  const strange: ReadonlyArray<readonly [string, string]> = [
    ["SSH-2.0-OpenSSH_9.2\r\n", "it does not speak HTTP"],
    [response(""), 'its response to "/view" is invalid'],
    [response("{"), 'its response to "/view" is invalid'],
    [response('{"sections":[]}'), 'its response to "/view" is invalid'],
    [
      response(
        '{"header":{"startTime":"","uptimeMs":0,"mode":"task"},"sections":[{"name":"","title":"","rows":[{"type":{"toString":0}}]}]}'
      ),
      'its response to "/view" is invalid'
    ],
    [response("<html>", "404 Not Found"), 'its response to "/view" is invalid'],
    [
      response('{"error":{"message":"Not found: GET /status"}}', "404 Not Found"),
      "it refused the request. Not found: GET /status"
    ],
    [response('{"error":{"message":"a bug"}}', "500 Internal Server Error"), "a bug"]
  ]
  for (const [said, detail] of strange) {
    scenario(
      `reports an invalid response: ${said}`,
      Effect.gen(function* () {
        const { client } = yield* talkingTo((socket) => socket.write(said))
        const error = yield* Effect.flip(client.view)
        expect(error._tag).toBe("vitrine/IpcProtocolError")
        expect(error.message).toContain(detail)
      })
    )
  }

  scenario(
    "receives events that come together with the head, and reports what interrupts them",
    Effect.gen(function* () {
      const head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nretry: 2000\n\n"
      const event = (name: string) => `event: ${name}\ndata: {}\n\n`
      for (const [last, tag] of [
        ["", "vitrine/IpcConnectionLost"],
        [": ping\n\nevent: c\n", "vitrine/IpcConnectionLost"],
        ["event: c\ndata: garbage\n\n", "vitrine/IpcProtocolError"]
      ]) {
        const { client } = yield* talkingTo((socket) =>
          socket.end(`${head}${event("a")}${event("b")}${last}`)
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
    "accepts a refusal of a command without a description",
    Effect.gen(function* () {
      const { client } = yield* talkingTo((socket, received) =>
        socket.write(
          isProcess(received)
            ? response('{"pid":1}')
            : response('{"error":"no"}', "500 Internal Server Error")
        )
      )
      const error = yield* Effect.flip(client.dispatch({ type: "a" }))
      expect(error).toEqual(
        new CommandRefused({ description: { name: "Error", message: "no" }, failure: undefined })
      )
    })
  )

  it("trusts its own user, and every user as root", () => {
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
    "does not connect to another user's socket",
    Effect.gen(function* () {
      const { client, path } = yield* talkingTo(() => {})
      // Everybody trusts root.
      const uid = process.getuid?.() || 4243
      yield* Effect.promise(() => chown(path, uid, -1))
      const error = yield* asUser(4242, Effect.flip(client.view))
      expect(error.message).toBe(
        `The controller cannot be reached at ${path}: it belongs to user ${uid}. Run the command as the user who started the controller.`
      )
    })
  )

  scenario(
    "follows no symbolic link to the socket of another controller or its folder",
    Effect.gen(function* () {
      const { client, socket } = yield* start
      yield* client.view
      const folder = yield* temporaryFolder
      yield* Effect.promise(async () => {
        await symlink(dirname(socket), `${folder}/linked`)
        await mkdir(`${folder}/own`)
        await symlink(socket, `${folder}/own/controller.sock`)
      })
      for (const path of [`${folder}/linked/controller.sock`, `${folder}/own/controller.sock`]) {
        const error = yield* Effect.flip(
          Effect.flatMap(IpcClientSocket.make(path), ({ stop }) => stop("anna@desk"))
        )
        expect(error.message).toBe(
          `The controller cannot be reached at ${path}: a link leads there, perhaps to another controller. Remove it.`
        )
      }
      yield* client.view
    })
  )
})

/** As if the process belonged to this user. */
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
