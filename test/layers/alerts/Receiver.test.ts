import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  type Alerts,
  accepted,
  type Change,
  due,
  givenUp,
  looked,
  lost,
  posting,
  refused,
  restored
} from "../../../src/layers/alerts/Receiver.ts"
import { keyOf, notJudged } from "../../../src/layers/status/problems.ts"
import type { Mute, Problem } from "../../../src/services/Problem.ts"

const second = 1000
const minute = 60 * second
const after = 2 * minute

/** How a problem is: `-` is over, `W` a warning, `E` an error, `U` no longer watched, `?` not judged since a restart. */
type State = "-" | "W" | "E" | "U" | "?"

/**
 * What happens to posts: `ok`; `down`: no connection; `500`: all are refused; `a`: those that name this problem are;
 * `heard` and `unheard`: there is no response, and the post has arrived or not.
 */
type Network = "ok" | "down" | "500" | "a" | "heard" | "unheard"

const problemOf = (subject: string, state: State): ReadonlyArray<Problem> =>
  state === "-"
    ? []
    : [
        {
          code: "screen:silent",
          severity: state === "E" ? "error" : "warning",
          subject,
          text: `Screen ${subject} is silent.`,
          ...(state === "U" ? { unwatched: "closed" } : {}),
          ...(state === "?" ? { unwatched: notJudged } : {})
        }
      ]

const keyIn = (subject: string) => `\nscreen:silent\n${subject}`

/** A controller and its receiver, with a look every five seconds, as long as the receiver accepts posts or has none. */
const makeRoom = () => {
  let alerts: Alerts = restored([])
  let now = 0
  const posts: Array<{ readonly at: number; readonly names: string; readonly isAccepted: boolean }> = []
  /** What stands for the receiver, and which problems it has ever heard of. */
  const standing = new Map<string, string>()
  const heard = new Set<string>()

  const hear = (post: ReadonlyArray<Change>) => {
    for (const { key, kind, problem } of post) {
      if (kind === "over" || kind === "unwatched") {
        expect(heard).toContain(key)
        standing.delete(key)
      } else {
        heard.add(key)
        standing.set(key, problem.severity)
      }
    }
  }

  const send = (post: ReadonlyArray<Change>, network: Network): boolean => {
    const before = alerts
    alerts = posting(alerts, post)
    const isRefused =
      network === "500" || (network === "a" && post.some(({ problem }) => problem.subject === "a"))
    const isAccepted = !isRefused && (network === "ok" || network === "a")
    posts.push({
      at: now,
      names: post.map(({ kind, problem }) => `${kind} ${problem.subject}`).join(", "),
      isAccepted
    })
    if (isAccepted || network === "heard") hear(post)
    // From now on, a real receiver may have heard of it.
    if (network === "unheard") for (const { key } of post) heard.add(key)
    if (isAccepted) alerts = accepted(alerts, post)
    else if (network !== "heard" && network !== "unheard") alerts = lost(alerts, before, post)
    if (isRefused) alerts = refused(alerts, post, "it responds 500", now)
    return isAccepted
  }

  return {
    posts,
    /** The accepted posts, with the minutes since the start. */
    told: () =>
      posts.filter(({ isAccepted }) => isAccepted).map(({ at, names }) => `${at / minute} ${names}`),
    standing: () => Object.fromEntries(standing),
    givenUp: () => givenUp(alerts).map(({ problem }) => problem.subject),
    /** How many problems are remembered. */
    size: () => alerts.known.size,
    restart: () => {
      alerts = restored(JSON.parse(JSON.stringify([...alerts.known.values()])))
    },
    lasts: (
      millis: number,
      states: Readonly<Record<string, State>>,
      network: Network = "ok",
      mutes: ReadonlyArray<string> = []
    ) => {
      const problems = Object.entries(states).flatMap(([subject, state]) => problemOf(subject, state))
      const owned = problems.map((problem) => ({ plugin: "screens", problem }))
      const muted = mutes.map((name): Mute => ({ name, until: "", by: "anna" }))
      for (const end = now + millis; now < end; now += 5 * second) {
        alerts = looked(alerts, owned, muted, now)
        for (
          let post = due(alerts, after, now);
          post.length > 0 && send(post, network);
          post = due(alerts, after, now)
        ) {
          alerts = looked(alerts, owned, muted, now)
        }
      }
    }
  }
}

const states: FastCheck.Arbitrary<Readonly<Record<string, State>>> = FastCheck.record({
  a: FastCheck.constantFrom<Array<State>>("-", "W", "E", "U"),
  b: FastCheck.constantFrom<Array<State>>("-", "W", "E", "U"),
  c: FastCheck.constantFrom<Array<State>>("-", "W", "E", "U")
})

const steps = FastCheck.array(
  FastCheck.record({
    states,
    network: FastCheck.constantFrom<Array<Network>>("ok", "ok", "down", "500", "a", "heard", "unheard"),
    lasts: FastCheck.constantFrom(5 * second, 50 * second, 3 * minute, 12 * minute),
    mutes: FastCheck.constantFrom<Array<ReadonlyArray<string>>>([], [], ["b"]),
    restarts: FastCheck.boolean()
  }),
  { maxLength: 12 }
)

const stands = (states: Readonly<Record<string, State>>) =>
  Object.fromEntries(
    Object.entries(states).flatMap(([subject, state]) =>
      state === "W" || state === "E" ? [[keyIn(subject), state === "E" ? "error" : "warning"]] : []
    )
  )

describe("what a receiver was told", () => {
  it.prop("is in the end what stands, whatever fails in between", { steps, states }, ({ states, steps }) => {
    const room = makeRoom()
    for (const { lasts, mutes, network, restarts, states } of steps) {
      if (restarts) room.restart()
      room.lasts(lasts, states, network, mutes)
    }
    room.lasts(80 * minute, states)
    expect(room.standing()).toEqual(stands(states))
    expect(room.size()).toBeLessThanOrEqual(3)
  })

  it.prop(
    "is what stands of all other problems, as long as it refuses one",
    { steps, states },
    ({ states, steps }) => {
      const room = makeRoom()
      for (const { lasts, states } of steps) room.lasts(lasts, states, "a")
      room.lasts(20 * minute, { ...states, c: "-" }, "a")
      room.lasts(20 * minute, { ...states, c: "E" }, "a")
      expect(room.standing()).toEqual(stands({ ...states, a: "-", c: "E" }))
      expect(room.givenUp()).toEqual(states.a === "W" || states.a === "E" ? ["a"] : [])
    }
  )

  it.prop(
    "changes at most twice for each change that lasts: what is worse at once, and the rest later",
    { rounds: FastCheck.array(states, { maxLength: 6 }) },
    ({ rounds }) => {
      const room = makeRoom()
      for (const states of rounds) room.lasts(5 * minute, states)
      expect(room.posts.length).toBeLessThanOrEqual(2 * rounds.length)
    }
  )
})

describe("a receiver is told of", () => {
  it("a problem that lasts, and of its end when the end has lasted as well", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.lasts(5 * minute, {})
    expect(room.told()).toEqual(["2 begin a", "7 over a"])
  })

  it("a shaky line once", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    for (let index = 0; index < 50; index++) {
      room.lasts(minute, {})
      room.lasts(minute, { a: index % 2 === 0 ? "W" : "E" })
    }
    expect(room.told()).toEqual(["2 begin a"])
  })

  it("nothing that begins and ends while nobody can connect to it", () => {
    const room = makeRoom()
    room.lasts(30 * minute, { a: "E" }, "down")
    room.lasts(30 * minute, {}, "down")
    room.lasts(30 * minute, {})
    expect(room.told()).toEqual([])
  })

  it("the end of a problem whose beginning may have arrived", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" }, "unheard")
    room.lasts(5 * minute, {})
    expect(room.told()).toEqual(["7 over a"])
  })

  it("a worse problem at once, and a better one when it has lasted", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "W" })
    room.lasts(5 * minute, { a: "E" })
    room.lasts(5 * minute, { a: "W" })
    expect(room.told()).toEqual(["2 begin a", "5 worse a", "12 better a"])
  })

  it("problems that begin within a minute in one post", () => {
    const room = makeRoom()
    room.lasts(30 * second, { a: "E" })
    room.lasts(20 * second, { a: "E", b: "E" })
    room.lasts(20 * second, { a: "E", b: "E", c: "E" })
    room.lasts(10 * minute, { a: "E", b: "E", c: "E", d: "W" })
    expect(room.told().map((told) => told.replace(/^\S+ /, ""))).toEqual([
      "begin a, begin b, begin c",
      "begin d"
    ])
  })

  it("fifty problems in one post, and of the others in the next", () => {
    const room = makeRoom()
    const all = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`s${index}`, "E" as const]))
    room.lasts(5 * minute, all)
    expect(room.told().map((told) => told.split(", ").length)).toEqual([50, 20])
  })

  it("an evening as it is: the beginning, that nobody watches, that it is there again, and the end", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.lasts(16 * 60 * minute, { a: "U" })
    room.lasts(5 * minute, { a: "E" })
    room.lasts(5 * minute, {})
    expect(room.told()).toEqual(["2 begin a", "7 unwatched a", "967 again a", "972 over a"])
  })

  it("no end that happens while nobody watches", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.lasts(60 * minute, { a: "U" })
    room.lasts(60 * minute, {})
    expect(room.told()).toEqual(["2 begin a", "7 unwatched a"])
    expect(room.size()).toBe(0)
  })

  it("a muted problem neither its beginning nor its end until the mute ends", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.lasts(5 * minute, { a: "E", b: "E" }, "ok", ["a", "b"])
    room.lasts(5 * minute, {}, "ok", ["a", "b"])
    expect(room.told()).toEqual(["2 begin a"])
    room.lasts(5 * minute, {})
    expect(room.told()).toEqual(["2 begin a", "17 over a"])
  })
})

describe("after a restart, a receiver is told of a problem that it knows", () => {
  it("nothing if it is found again", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.restart()
    room.lasts(9 * minute, { a: "?" })
    room.lasts(9 * minute, { a: "E" })
    expect(room.told()).toEqual(["2 begin a"])
  })

  it("its end if its plugin looks and does not find it", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.restart()
    room.lasts(5 * minute, { a: "?" })
    room.lasts(5 * minute, {})
    expect(room.told()).toEqual(["2 begin a", "12 over a"])
  })

  it("that nobody watches it any more, if no plugin judges it", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E" })
    room.restart()
    room.lasts(10 * minute, { a: "?" })
    room.lasts(30 * minute, { a: "U" })
    expect(room.told()).toEqual(["2 begin a", "17 unwatched a"])
  })
})

describe("a receiver that refuses", () => {
  it("one of two problems gets the other one after three posts with both, and the first one is given up", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E", b: "E" }, "a")
    expect(room.told()).toHaveLength(1)
    expect(room.told()[0]).toMatch(/ begin b$/)
    expect(room.posts.filter(({ names }) => names.includes(","))).toHaveLength(3)
    expect(room.givenUp()).toEqual(["a"])
    const tried = room.posts.length
    room.lasts(30 * minute, { a: "E", b: "E", c: "E" }, "a")
    expect(room.posts.slice(tried).map(({ names }) => names)).toEqual(["begin c"])
    room.lasts(80 * minute, { a: "E", b: "E", c: "E" })
    expect(room.told().at(-1)).toMatch(/ begin a$/)
    expect(room.givenUp()).toEqual([])
  })

  it("everything refuses no single alert: nothing is given up", () => {
    const room = makeRoom()
    room.lasts(60 * minute, { a: "E", b: "E" }, "500")
    expect(room.givenUp()).toEqual([])
    room.lasts(5 * minute, { a: "E", b: "E" })
    expect(room.told()).toHaveLength(2)
  })

  it("the end of a problem is asked again if the problem comes back", () => {
    const room = makeRoom()
    room.lasts(5 * minute, { a: "E", b: "E" })
    room.lasts(10 * minute, {}, "a")
    expect(room.givenUp()).toEqual(["a"])
    room.lasts(5 * minute, { a: "E" }, "a")
    expect(room.givenUp()).toEqual([])
    expect(keyOf({ code: "screen:silent", severity: "error", subject: "a", text: "" })).toBe(keyIn("a"))
  })
})
