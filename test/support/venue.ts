import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { openReceiver } from "./alertReceiver.ts"
import { openKiosk } from "./kiosk.ts"
import { type Machine, makeHub, makePlayer, playerIs, sees } from "./machines.ts"
import { makeNetwork } from "./namespaces.ts"
import { smallDisk } from "./tmpfs.ts"
import { runVitrine } from "./vitrineProcess.ts"

export const halls = [1, 2, 3, 4, 5].map((number) => `hall-${number}`)

/** What the wall of a player shows, and what shows it in a frame. */
const wallUrl = "http://127.0.0.1:8730/?screen=wall"
const kioskUrl = `${new URL("../../deploy/kiosk/index.html", import.meta.url)}?url=${wallUrl}`

/** In seconds: what its machines take to start, and to be up to date, while another program runs here. */
const started = 240

const settingUp = Effect.gen(function* () {
  const { connect } = yield* makeNetwork
  const desk = yield* connect("desk")
  const receiver = yield* openReceiver(desk.by, desk.address)
  const place = yield* connect("hub")
  const address = `${place.address}:8730`
  const machine = yield* makeHub({
    by: place.by,
    env: {
      HOST: "0.0.0.0",
      CONTENT_PORT: "8730",
      TABLES_PORT: "8740",
      PLAYERS: halls.join(" "),
      ALERTS: receiver.url
    }
  })
  const publishing = yield* Effect.makeSemaphore(1)
  const hub = { ...machine, ...place, address, inTurn: publishing.withPermits(1) }
  yield* hub.start
  const disk = yield* smallDisk

  const startPlayer = Effect.fnUntraced(function* (id: string, env: Readonly<Record<string, string>>) {
    const place = yield* connect(id)
    const common = { HUB: `http://${address}`, TRANSPORT_PORT: "8710", CONTENT_PORT: "8730" }
    const player = yield* makePlayer(id, { by: place.by, env: { ...common, ...env } })
    yield* player.start
    const turn = yield* Effect.makeSemaphore(1)
    return {
      ...player,
      ...place,
      id,
      /** One thing after the other happens to it. */
      inTurn: turn.withPermits(1)
    }
  })

  const startWithPage = Effect.fnUntraced(function* (
    id: string,
    env: Readonly<Record<string, string>>,
    url = wallUrl
  ) {
    const player = yield* startPlayer(id, { SCREENS: "wall", ...env })
    const kiosk = yield* openKiosk(player.by)
    const open = kiosk.open(url)
    const page = yield* Ref.make(yield* open)
    return {
      ...player,
      kiosk,
      page: Ref.get(page),
      reopen: Effect.flatMap(open, (next) => Ref.set(page, next))
    }
  })

  const players = yield* Effect.all(
    {
      left: startWithPage("hall-1", {}),
      middle: startWithPage("hall-2", { ALERTS: receiver.url }),
      right: startWithPage("hall-3", {}, kioskUrl),
      lone: startPlayer("hall-4", {}),
      small: startPlayer("hall-5", { DOWNLOADS: `${disk.folder}/downloads` })
    },
    { concurrency: 2 }
  )

  yield* Effect.forEach(halls, (id) => sees(hub, `${id} is up to date`, started, playerIs(id, "up to date")))
  yield* sees(hub, "nothing is wrong", started, ({ problems }) => problems.length === 0)
  return {
    /**
     * `middle` posts alerts itself, the page of `right` is in the frame of a kiosk. `lone` and `small` have no screens.
     */
    ...players,
    hub,
    /** Where people of the venue sit, and alerts arrive. */
    desk: { ...desk, ...receiver },
    /** That of `small`. */
    disk
  }
})

export class Venue extends Context.Tag("test/Venue")<Venue, Effect.Effect.Success<typeof settingUp>>() {
  static readonly layer = Layer.scoped(Venue, settingUp).pipe(Layer.provideMerge(NodeContext.layer))
}

export const versionOf = ({ view }: Machine) =>
  Effect.map(view, (view) => Option.getOrUndefined(view)?.content.versionId)

/** Another version at the hub, as soon as it is the active one there. */
export const publish = Effect.fnUntraced(function* (title: string) {
  const { hub } = yield* Venue
  yield* hub.inTurn(
    Effect.gen(function* () {
      const before = yield* versionOf(hub)
      yield* hub.write(title)
      yield* sees(hub, "there is another version", started, ({ content }) => content.versionId !== before)
    })
  )
})

/** Runs a command of the program in the folder of a machine, and returns what it shows. */
export const vitrine = (
  { by, folder }: { readonly by: ReadonlyArray<string>; readonly folder: string },
  ...args: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const { status, stderr, stdout } = yield* (yield* runVitrine(args, { by, cwd: folder })).ended
    return status === 0 ? stdout : yield* Effect.dieMessage(`vitrine ${args.join(" ")}: ${stderr}`)
  }).pipe(Effect.scoped)
