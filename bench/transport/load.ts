/**
 * The load generator: clients on bare sockets that read into one buffer and look for marks in the bytes.
 */
import { connect as openSocket, type Socket } from "node:net"
import { answer } from "../processes.ts"
import { quantile } from "../statistics.ts"
import { type Deliveries, type LoadApi, liveMark, microseconds, replayMark } from "./protocol.ts"

const live = liveMark.charCodeAt(0)
const replay = replayMark.charCodeAt(0)
const digits = 16
const readBytes = 64 * 1024

/** All sockets read into the same buffer. Its last byte ends every search. */
const memory = Buffer.alloc(readBytes + 1)

/** A socket that reports how many bytes of `memory` it has just filled. */
const open = (port: number, onRead: (length: number) => void): Socket =>
  openSocket({
    port,
    host: "127.0.0.1",
    onread: {
      buffer: memory.subarray(0, readBytes),
      callback: (length) => {
        onRead(length)
        return true
      }
    }
  })

const sockets = new Set<Socket>()
let counts = new Uint32Array()
let delays = new Float64Array()
/** When the last event of each client was published. */
let latest = new Float64Array()
let disordered = 0
let received = 0
let expectedEach = 0
let startedAt = microseconds()
let cpuAtStart = process.cpuUsage()

const publishedAt = (end: number): number => {
  let value = 0
  for (let at = end - digits; at < end; at++) {
    value = value * 10 + (memory[at] ?? 0) - 48
  }
  return value
}

const countEvents = (client: number, length: number) => {
  memory[length] = live
  const now = microseconds()
  let events = 0
  for (let at = memory.indexOf(live); at < length; at = memory.indexOf(live, at + 1)) {
    // A read may begin amid the digits.
    if (at >= digits) {
      const published = publishedAt(at)
      delays[received + events] = now - published
      disordered += published > (latest[client] ?? 0) ? 0 : 1
      latest[client] = published
    }
    events++
  }
  received += events
  counts[client] = (counts[client] ?? 0) + events
}

const hasReplay = (length: number): boolean => {
  memory[length] = replay
  return memory.indexOf(replay) < length
}

/** Opens the event stream of a client. Done when it has the backlog. */
const join = (port: number, client: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let isJoined = false
    const socket = open(port, (length) => {
      if (isJoined) {
        countEvents(client, length)
      } else if (hasReplay(length)) {
        isJoined = true
        resolve()
      }
    })
    socket.on("error", reject)
    socket.write("GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    sockets.add(socket)
  })

const connect: LoadApi["connect"] = async ({ clients, inTurn = false, port }) => {
  const from = microseconds()
  counts = new Uint32Array(clients)
  const joined: Array<Promise<void>> = []
  for (let client = 0; client < clients; client++) {
    joined.push(join(port, client))
    if (inTurn) {
      await joined[client]
    }
  }
  await Promise.all(joined)
  return (microseconds() - from) / 1000
}

const expect: LoadApi["expect"] = ({ events }) => {
  counts.fill(0)
  delays = new Float64Array(counts.length * events).fill(Number.NaN)
  latest = new Float64Array(counts.length)
  disordered = 0
  received = 0
  expectedEach = events
  startedAt = microseconds()
  cpuAtStart = process.cpuUsage()
}

const generatorLoad = () => {
  const { system, user } = process.cpuUsage(cpuAtStart)
  return (system + user) / (microseconds() - startedAt)
}

const deliveries: LoadApi["deliveries"] = () =>
  new Promise((resolve) => {
    let before = received
    let idlePolls = 0
    const timer = setInterval(() => {
      idlePolls = before === received ? idlePolls + 1 : 0
      before = received
      if (received >= counts.length * expectedEach || idlePolls === 200) {
        clearInterval(timer)
        resolve(result())
      }
    }, 50)
  })

const result = (): Deliveries => {
  const generator = generatorLoad()
  const known = delays.filter((delay) => !Number.isNaN(delay))
  return {
    // A duplicate at one client must not hide a loss at another.
    missing: counts.reduce((sum, count) => sum + Math.abs(expectedEach - count), 0),
    disordered,
    medianDelay: quantile(known, 0.5) / 1000,
    p99Delay: quantile(known, 0.99) / 1000,
    generator
  }
}

const disconnect: LoadApi["disconnect"] = () => {
  for (const socket of sockets) {
    socket.destroy()
  }
  sockets.clear()
}

const closingBrace = "}".charCodeAt(0)

const request: LoadApi["request"] = ({ connections, durationMs, port, request }) =>
  new Promise((resolve, reject) => {
    let answers = 0
    startedAt = microseconds()
    cpuAtStart = process.cpuUsage()
    for (let connection = 0; connection < connections; connection++) {
      const socket = open(port, (length) => {
        if (memory[0] === 72 && memory.toString("latin1", 9, 12) !== "200") {
          reject(new Error(memory.toString("utf8", 0, length)))
        }
        // Every response is one JSON object.
        if (memory[length - 1] === closingBrace) {
          answers++
          socket.write(request)
        }
      })
      socket.on("error", reject)
      socket.write(request)
      sockets.add(socket)
    }
    setTimeout(() => {
      if (answers === 0) {
        reject(new Error("No answer was recognised"))
      }
      const rate = (answers / (microseconds() - startedAt)) * 1e6
      resolve({ rate, generator: generatorLoad() })
      disconnect()
    }, durationMs)
  })

answer<LoadApi>({ connect, expect, deliveries, disconnect, request })
