/**
 * A replica of a hub in memory. Tests over real sockets are in `sockets.test.ts`.
 */
import { gzipSync } from "node:zlib"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { sha256OfText } from "../../../src/files/sha256.ts"
import { activeIn } from "../../../src/layers/versions/ManifestFile.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { follow, names, readManifest, rowValue, statusRows } from "../../support/content.ts"
import { readActive } from "../../support/hub.ts"
import { first, makeReplica } from "../../support/replica.ts"
import { scenarios } from "../../support/scenario.ts"
import { mayMount, smallDisk } from "../../support/tmpfs.ts"
import * as Upstream from "../../support/upstream.ts"
import {
  bytes,
  empty,
  hangUp,
  json,
  makeUpstream,
  silence,
  stalledBody,
  text
} from "../../support/upstream.ts"
import { eventually } from "../../support/waiting.ts"

/** A body in gzip, without a length. */
const packed = (body: string | Buffer) => bytes(200, gzipSync(body), { "content-encoding": "gzip" })

/** 2 MB. */
const hostile = `\u202e\n${"x".repeat(2_000_000)}`

const emptyFile = { size: 0, sha256: sha256OfText("") }

const verify = Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.verify" }))

const environment = Effect.provide(Upstream.layer)

const scenario = scenarios(Upstream.layer, makeUpstream)
const withoutHub = scenarios(Upstream.layer, Effect.void)
const live = scenarios(Upstream.layer, Effect.void, { isLive: true })

const paths = (requests: ReadonlyArray<{ readonly path: string }>) => requests.map(({ path }) => path)

describe("a replica", () => {
  scenario("reports a copy as a fetch of the sources", function* (hub) {
    const versionId = yield* hub.promote(first)
    const { fetch, provided } = yield* makeReplica(hub.url)
    const events = yield* provided(follow)
    yield* fetch
    const told = yield* events.until("content:fetch:done")
    expect(new Set(names(told))).toEqual(
      new Set([
        "content:fetch:start",
        "content:source:start",
        "content:source:progress",
        "content:source:done",
        "content:version:promoted",
        "content:fetch:done"
      ])
    )
    expect(told.filter(({ name }) => name === "content:source:done").map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        {
          timestamp: expect.any(String),
          sourceId: "exhibits",
          records: 3,
          bytes: 23,
          attachments: { total: 3, bytes: 23, reused: 1 },
          durationMs: 0
        }
      ])
    )
    const progress = told
      .filter(({ name }) => name === "content:source:progress")
      .map(({ payload }) => payload)
    expect(progress).toContainEqual(
      expect.objectContaining({ sourceId: "tours", documents: { done: 0, total: 2 } })
    )
    expect(yield* provided(rowValue("Active version"))).toBe(versionId)
    expect(yield* provided(readManifest)).toMatchObject({ status: "ok" })
  })

  scenario("downloads only missing files, and equal content once", function* (hub) {
    yield* hub.promote(first)
    const { active, fetch } = yield* makeReplica(hub.url)
    yield* fetch
    expect(paths(hub.requests).filter((path) => path.endsWith(".mp4"))).toHaveLength(1)
    hub.requests.length = 0
    const versionId = yield* hub.promote({
      exhibits: { "objects.json": "[1,2]", "moved/intro.mp4": "0123456789" },
      tours: { "new name.json": "[]" }
    })
    expect(yield* fetch).toMatchObject({ changed: true, versionId })
    expect(paths(hub.requests)).toEqual([
      "manifest.json",
      `versions/${versionId}/files.json`,
      `versions/${versionId}/exhibits/objects.json`,
      "manifest.json"
    ])
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  scenario(
    "copies a version that waits for the end of a hold in advance, and activates it when the hub does",
    function* (hub) {
      const before = yield* hub.promote(first)
      const { folder, log, provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
      const { hold, resume } = hub.store
      const { until } = yield* provided(follow)
      yield* start
      yield* withAdvancingClock(until("content:fetch:done"))
      yield* hold({ until: "2030-01-01T00:00:00.000Z" })
      yield* TestClock.adjust("1 second")
      yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
      const waiting = Option.getOrThrow(activeIn(yield* hub.store.manifest)).held?.waiting
      const { manifest } = yield* provided(VersionStore)
      const shown = Effect.map(manifest, (reading) => Option.getOrThrow(activeIn(reading)).versionId)
      const fs = yield* FileSystem.FileSystem
      const isThere = fs.exists(`${folder}/versions/${waiting}/exhibits/objects.json`)
      yield* withAdvancingClock(Effect.sleep("20 seconds"))
      expect(yield* isThere).toBe(true)
      expect(yield* shown).toBe(before)
      hub.requests.length = 0
      yield* resume({})
      yield* withAdvancingClock(until("content:version:promoted"))
      expect(yield* shown).toBe(waiting)
      expect(new Set(paths(hub.requests))).toEqual(new Set(["manifest.json"]))
      expect(log.filter((line) => !line.startsWith("INFO") && !line.startsWith("DEBUG"))).toEqual([])
    }
  )

  const startHeld = Effect.fnUntraced(function* (hub: Effect.Effect.Success<typeof makeUpstream>) {
    const older = yield* hub.promote(first)
    yield* TestClock.adjust("1 second")
    yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
    const replica = yield* makeReplica(hub.url, { mode: "persistent" })
    yield* replica.fetch
    yield* hub.store.hold({ until: "2030-01-01T00:00:00.000Z" })
    yield* TestClock.adjust("1 second")
    yield* hub.promote({ exhibits: { "objects.json": "[3]" } })
    const waiting = Option.getOrThrow(activeIn(yield* hub.store.manifest)).held?.waiting
    return { ...replica, older, waiting }
  })

  scenario("that copies in advance follows its hub back to an older version", function* (hub) {
    const { older, provided, start } = yield* startHeld(hub)
    hub.fault(/objects/, stalledBody)
    const { until } = yield* provided(follow)
    yield* start
    yield* withAdvancingClock(
      eventually(Effect.sync(() => hub.requests.at(-1)?.path.endsWith("objects.json") === true))
    )
    yield* hub.store.hold({ versionId: older })
    const back = Effect.repeat(until("content:version:promoted"), {
      until: (events) => JSON.stringify(events.at(-1)).includes(older)
    })
    expect((yield* withAdvancingClock(back)).took).toBeLessThanOrEqual(15_000)
  })

  scenario("that cannot copy in advance tries again after pauses, and says so once", function* (hub) {
    const { log, provided, start, waiting } = yield* startHeld(hub)
    const wrong = text(200, "[4]")
    hub.fault(/objects/, ...Array.from({ length: 100 }, () => wrong))
    const { until } = yield* provided(follow)
    yield* start
    yield* withAdvancingClock(Effect.sleep("6 minutes"))
    const tries = () => hub.requests.filter(({ path }) => path.endsWith("objects.json")).length / 2
    expect(tries()).toBeGreaterThan(5)
    expect(tries()).toBeLessThan(11)
    expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
      expect.stringContaining("could not be copied in advance")
    ])
    const before = tries()
    yield* hub.store.resume({})
    yield* withAdvancingClock(Effect.sleep("10 seconds"))
    expect(tries()).toBe(before)
    hub.heal()
    const shown = Effect.repeat(until("content:version:promoted"), {
      until: (events) => JSON.stringify(events.at(-1)).includes(waiting ?? "no version")
    })
    expect((yield* withAdvancingClock(shown)).took).toBeLessThan(70_000)
  })

  scenario("keeps composed and decomposed letters in file and folder names", function* (hub) {
    yield* hub.promote({
      exhibits: { "gr\u00fcn/\u00e4.txt": "composed", "blu\u0308/a\u0308.txt": "decomposed" }
    })
    const { active, fetch } = yield* makeReplica(hub.url)
    yield* fetch
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  live("accepts compressed files without a Content-Length, up to the listed size", function* () {
    const hub = yield* makeUpstream
    yield* hub.promote({ exhibits: { "objects.json": "0123456789" } })
    const { active, fetchLive } = yield* makeReplica(hub.url)
    hub.fault(/objects/, packed("x".repeat(1_000_000)), packed("0123456789"))
    expect((yield* Effect.flip(fetchLive)).message).toMatch(/objects\.json: .+ gave at least \d+ of 10 bytes/)
    yield* fetchLive
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  scenario("shows in the status that it waits for its hub", function* (hub) {
    yield* hub.promote(first)
    const { provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
    const events = yield* provided(follow)
    yield* start
    yield* withAdvancingClock(events.until("content:fetch:done"))
    const nextFetch = provided(rowValue("Next fetch"))
    expect(yield* nextFetch).toMatch(/^1970-01-01T/)
    hub.requests.length = 0
    hub.fault(/manifest/, silence)
    yield* TestClock.adjust("6 seconds")
    yield* eventually(Effect.sync(() => hub.requests.length === 1))
    expect(yield* nextFetch).toBe("looking for changes now")
    yield* TestClock.adjust("30 seconds")
    yield* eventually(Effect.map(nextFetch, (value) => value?.endsWith("may pass by itself") === true))
  })

  scenario("polls for a new version, and publishes nothing if there is none", function* (hub) {
    yield* hub.promote(first)
    const { provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
    const events = yield* provided(follow)
    yield* start
    yield* withAdvancingClock(events.until("content:fetch:done"))
    const { state } = yield* provided(ControllerState)
    const before = yield* state
    expect(before.plugins.content).toMatchObject({
      copiedFrom: { url: `${hub.url}/`, askedAt: expect.any(String), versionId: expect.any(String) }
    })
    hub.requests.length = 0
    yield* withAdvancingClock(Effect.sleep("1 minute"))
    expect(new Set(hub.requests.map(({ path, status }) => `${path} ${status}`))).toEqual(
      new Set(["manifest.json 304"])
    )
    expect(hub.requests.length).toBeGreaterThanOrEqual(10)
    expect(hub.requests.length).toBeLessThanOrEqual(15)
    expect((yield* state)._version).toBe(before._version)
    const versionId = yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
    const { value: told } = yield* withAdvancingClock(events.until("content:fetch:done"))
    // Events of the polls before would come first.
    expect(told[0]?.name).toBe("content:fetch:start")
    expect(told.at(-1)?.payload).toMatchObject({ changed: true, versionId })
  })

  it.scoped.each([
    ["manifest", "manifest.json"],
    ["downloads folder", ""]
  ] as const)("notices while it runs that its %s was removed", ([_, name]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const hub = yield* makeUpstream
      yield* hub.promote(first)
      const { active, folder, provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
      const events = yield* provided(follow)
      yield* start
      yield* withAdvancingClock(events.until("content:fetch:done"))
      // The sweep after a fetch would restore the manifest too, so no fetch must be due.
      yield* withAdvancingClock(Effect.sleep("1 second"))
      yield* fs.remove(`${folder}/${name}`, { recursive: true })
      yield* withAdvancingClock(events.until("content:fetch:done"))
      expect(yield* active).toEqual(yield* readActive(hub.directory))
    }).pipe(environment)
  )
})

const manifestOf = (versionId: string, more: object = {}) => ({
  schemaVersion: 1,
  versionId,
  versionPath: `versions/${versionId}`,
  generatedAt: "2026-11-22T09:30:00.000Z",
  sources: [],
  ...more
})

describe("a download of a replica", () => {
  scenario(
    "is retried once if the content is wrong, and then at long intervals until it is right",
    function* (hub) {
      yield* hub.promote({ exhibits: { "objects.json": "[1]" } })
      const { active, failure, fetch, log, parts, provided, start } = yield* makeReplica(hub.url, {
        mode: "persistent"
      })
      yield* fetch
      const before = yield* active
      const versionId = yield* hub.promote(first)
      const events = yield* provided(follow)
      const wrong = text(200, "x123456789")
      hub.fault(/films/, ...Array.from({ length: 100 }, () => wrong))
      const message = yield* failure
      expect(message).toBe(
        `Cannot copy from ${hub.url}/: versions/${versionId}/exhibits/films/copy.mp4 has the digest ${sha256OfText("x123456789")}, but ${sha256OfText("0123456789")} is listed. It was changed there, or on the way. Run "vitrine verify" and then "vitrine fetch" on the hub`
      )
      expect(yield* active).toEqual(before)
      expect(yield* parts).not.toContain(sha256OfText("0123456789"))
      const told = yield* events.until("content:fetch:error")
      expect(told.filter(({ name }) => name === "content:source:error")).toHaveLength(1)

      hub.requests.length = 0
      yield* start
      yield* withAdvancingClock(Effect.sleep("6 minutes"))
      const tries = hub.requests.filter(({ path }) => path.includes("/films/")).length / 2
      expect(tries).toBeGreaterThan(5)
      expect(tries).toBeLessThan(11)
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        `WARN Fetch failed, content stays as it is. ${message}`
      ])
      hub.heal()
      expect((yield* withAdvancingClock(events.until("content:fetch:done"))).took).toBeLessThan(70_000)
      expect(yield* active).toEqual(yield* readActive(hub.directory))
    }
  )

  scenario("succeeds if only the first attempt was wrong", function* (hub) {
    yield* hub.promote(first)
    const { active, fetch } = yield* makeReplica(hub.url)
    hub.fault(/films/, text(200, "x123456789"))
    hub.fault(/files.json/, text(200, "[]"))
    yield* fetch
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  withoutHub("of a version that was removed starts again with the current version of the hub", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const gone = yield* hub.promote(first)
    const { active, fetch } = yield* makeReplica(hub.url)
    let versionId = ""
    const moveOn = Effect.gen(function* () {
      versionId = yield* hub.promote({
        ...first,
        exhibits: { ...first.exhibits, "objects.json": "[2]" }
      })
      yield* fs.remove(`${hub.directory}/versions/${gone}`, { recursive: true })
    }).pipe(Effect.orDie)
    hub.fault(/objects.json/, (request, signal) => Effect.zipRight(moveOn, text(404, "")(request, signal)))
    expect(yield* fetch).toMatchObject({ changed: true, versionId })
    expect(paths(hub.requests).filter((path) => path.includes("/films/"))).toHaveLength(1)
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  it.scoped.each(["while its last file comes", "while a file does not end"])(
    "of a version that the hub withdraws %s is dropped, and the version is never shown",
    (when) =>
      Effect.gen(function* () {
        const hub = yield* makeUpstream
        const before = yield* hub.promote({ exhibits: { "objects.json": "[1]" } })
        const { fetch, provided } = yield* makeReplica(hub.url)
        yield* fetch
        yield* TestClock.adjust("1 hour")
        yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
        const rollback = Effect.orDie(hub.store.activate(before))
        const last = when === "while a file does not end" ? stalledBody : text(200, "[2]")
        hub.fault(
          /objects.json/,
          (request, signal) => Effect.zipRight(rollback, last(request, signal)),
          ...Array.from({ length: 3 }, () => last)
        )
        const events = yield* provided(follow)
        const { took } = yield* withAdvancingClock(Effect.exit(fetch))
        expect(took).toBeLessThan(60_000)
        expect(names(yield* events.until("content:fetch:done"))).not.toContain("content:version:promoted")
        expect(yield* provided(rowValue("Active version"))).toBe(before)
      }).pipe(environment)
  )

  scenario(
    "of the version that follows a withdrawn version is not repeated at each poll if it is wrong",
    function* (hub) {
      yield* hub.promote({ exhibits: { "objects.json": "[1]" } })
      const { provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
      const events = yield* provided(follow)
      yield* start
      yield* withAdvancingClock(events.until("content:fetch:done"))
      yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
      const replace = Effect.orDie(hub.promote(first))
      hub.fault(/objects.json/, (request, signal) =>
        Effect.zipRight(replace, text(200, "[2]")(request, signal))
      )
      hub.fault(/films/, ...Array.from({ length: 100 }, () => text(200, "x123456789")))
      yield* withAdvancingClock(Effect.sleep("1 minute"))
      expect(hub.requests.filter(({ path }) => path.includes("/films/")).length / 2).toBeLessThan(5)
    }
  )

  withoutHub("of a file that stays missing fails", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const versionId = yield* hub.promote(first)
    yield* fs.remove(`${hub.directory}/versions/${versionId}/tours/tours.json`)
    const { failure } = yield* makeReplica(hub.url)
    expect(yield* failure).toContain(`versions/${versionId}/tours/tours.json`)
    expect(yield* failure).toContain("responds with HTTP 404")
  })
})

describe("a hub", () => {
  it.scoped.each([
    ["that hangs up", hangUp, /the connection to http:\/\/192\.0\.2\.1 failed: .*Check that the hub runs/],
    ["that fails", text(500, ""), /responds with HTTP 500 to manifest\.json/],
    ["that wants credentials", text(401, ""), /HTTP 401 to manifest\.json: it requires credentials/],
    ["that refuses", text(403, ""), /HTTP 403 to manifest\.json: it requires credentials/],
    ["without a version", text(404, ""), /it has no version yet \(404 for manifest\.json\)/],
    ["behind a login page", text(200, "\n<!doctype html><title>Wi-Fi</title>"), /is a page of HTML: a proxy/],
    ["that is something else", text(200, "hello"), /manifest\.json is no JSON object: does the address/],
    [
      "of a later Vitrine",
      json(200, { schemaVersion: 2 }),
      /has schemaVersion 2, of a later Vitrine: update/
    ],
    [
      "with a manifest that is nested 100,000 times",
      text(200, `{"schemaVersion":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
      /is no manifest: .*nested/
    ],
    ["with half a manifest", json(200, { schemaVersion: 1 }), /is no manifest: .*versionId/],
    ["with a hostile id", json(200, manifestOf("../../etc")), /is no manifest: .*versionId/],
    [
      "of an older Vitrine",
      json(200, manifestOf("20261122T093000Z")),
      /"filesSha256"\), because an older Vitrine/
    ],
    ["with an endless manifest", text(200, "x".repeat(2 ** 20 + 1)), /gave more than 1\.0 MiB/],
    ["that is silent", silence, /no complete answer from \S+ within 30000 ms/],
    ["that stalls", stalledBody, /no complete answer from \S+ within 30000 ms/]
  ] as const)("%s is reported, without a change", ([, answer, message]) =>
    Effect.gen(function* () {
      const hub = yield* makeUpstream
      const versionId = yield* hub.promote(first)
      const { active, failure, fetch, provided } = yield* makeReplica(hub.url)
      yield* fetch
      const before = yield* active
      hub.fault(/manifest/, answer)
      expect(yield* failure).toMatch(message)
      expect(yield* active).toEqual(before)
      expect(yield* provided(rowValue("Last fetch"))).toMatch(message)
      expect(yield* fetch).toMatchObject({ changed: false, versionId })
    }).pipe(environment)
  )

  it.scopedLive.each([
    ["files 100,000 folders deep", `"${"a/".repeat(100_000)}x"`, /at most 1024 bytes and 32 folders/],
    ["what is nested 100,000 times", `"x":${"[".repeat(100_000)}${"]".repeat(100_000)},"y"`, /nested/]
  ] as const)("that lists %s is refused quickly", ([, files, message]) =>
    Effect.gen(function* () {
      const hub = yield* makeUpstream
      yield* hub.promote(first)
      const { fetchLive } = yield* makeReplica(hub.url)
      yield* fetchLive
      const versionId = "20261122T093000Z"
      const emptyFile = `{"size":0,"sha256":"${sha256OfText("")}"}`
      const list = `{"schemaVersion":1,"versionId":"${versionId}","generatedAt":"2026-11-22T09:30:00.000Z","sources":[{"sourceId":"exhibits","fingerprint":"1","files":{${files}:${emptyFile}}}]}`
      expect(gzipSync(list).length).toBeLessThan(800)
      hub.fault(/manifest/, json(200, manifestOf(versionId, { filesSha256: sha256OfText(list) })))
      hub.fault(/files\.json/, packed(list))
      expect((yield* Effect.flip(fetchLive)).message).toMatch(message)
    }).pipe(environment)
  )

  live("with a list of more than 64 MiB when decompressed is refused", function* () {
    const hub = yield* makeUpstream
    yield* hub.promote(first)
    const { fetchLive } = yield* makeReplica(hub.url)
    hub.fault(/files\.json/, packed(Buffer.alloc(65 * 1024 * 1024)))
    expect((yield* Effect.flip(fetchLive)).message).toMatch(/files\.json: .+ gave more than 64.0 MiB/)
  })

  it.scoped.each([
    ["a name of a file that is refused", { files: { [`aux/${hostile}`]: emptyFile } }],
    ["an id of a source that is refused", { sourceId: `aux/${hostile}` }],
    ["a time that is none", { generatedAt: hostile }]
  ] as const)("with 2 MB of %s does not enlarge the status, the state and the events", ([, { ...given }]) =>
    Effect.gen(function* () {
      const hub = yield* makeUpstream
      yield* hub.promote(first)
      const { manifest } = yield* readActive(hub.directory)
      const { generatedAt, ...source } = { generatedAt: "2026-11-22T09:30:00.000Z", ...given }
      const { versionId } = JSON.parse(manifest)
      const list = JSON.stringify({
        schemaVersion: 1,
        versionId,
        generatedAt,
        sources: [{ sourceId: "exhibits", fingerprint: "1", files: {}, ...source }]
      })
      hub.fault(/manifest/, json(200, { ...JSON.parse(manifest), filesSha256: sha256OfText(list) }))
      hub.fault(/files\.json/, text(200, list))
      const { failure, provided } = yield* makeReplica(hub.url)
      const events = yield* provided(follow)
      expect(yield* failure).toMatch(/files\.json is no list of files: .*�/)
      const { state, status } = yield* provided(ControllerState)
      for (const said of [yield* state, yield* status, yield* events.until("content:fetch:error")]) {
        const text = JSON.stringify(said)
        expect(text.length).toBeLessThan(8000)
        expect(text).not.toMatch(/\u202e|(?<!\\)\\n/)
      }
    }).pipe(environment)
  )

  scenario("without a version is waited for, with one log message", function* (hub) {
    const { log, provided, start } = yield* makeReplica(hub.url, { mode: "persistent" })
    const events = yield* provided(follow)
    yield* start
    yield* withAdvancingClock(Effect.sleep("1 minute"))
    expect(hub.requests.length).toBeGreaterThanOrEqual(10)
    expect(log).toEqual([
      `WARN No version yet at ${hub.url}/ (404 for manifest.json). If the hub has one, the address in "from" does not lead to a downloads folder.`
    ])
    const versionId = yield* hub.promote(first)
    const { value: told } = yield* withAdvancingClock(events.until("content:fetch:done"))
    expect(told.at(-1)?.payload).toMatchObject({ changed: true, versionId })
  })

  withoutHub(
    "whose ETags change once a second is requested again after a change in the same second",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const hub = yield* makeUpstream
      const { fetch } = yield* makeReplica(hub.url)
      const second = "Sun, 22 Nov 2026 09:30:01 GMT"
      const readManifest = fs.readFileString(`${hub.directory}/manifest.json`)
      /** Like nginx, whose ETag consists of the time and the size. */
      const coarse =
        (manifest: string, date: string): Upstream.Answer =>
        (request, signal) => {
          const etag = `"6a138799-${manifest.length.toString(16)}"`
          const isKnown = request.headers["if-none-match"] === etag
          const sent = { etag, date, "last-modified": second }
          return (isKnown ? empty(304, sent) : text(200, manifest, sent))(request, signal)
        }
      yield* hub.promote(first)
      const earlier = coarse(yield* readManifest, second)
      hub.fault(/manifest/, earlier, earlier)
      yield* fetch
      yield* TestClock.adjust("1 second")
      const versionId = yield* hub.promote({ exhibits: { "objects.json": "[2]" }, tours: {} })
      const later = coarse(yield* readManifest, "Sun, 22 Nov 2026 09:30:03 GMT")
      hub.fault(/manifest/, later, later, later)
      expect(yield* fetch).toMatchObject({ changed: true, versionId })
      hub.requests.length = 0
      expect(yield* fetch).toMatchObject({ changed: false, versionId })
      expect(hub.requests.map(({ status }) => status)).toEqual([304])
    }
  )

  scenario(
    "that went back to an older version is followed back and forth without a download",
    function* (hub) {
      const older = yield* hub.promote(first)
      const { active, fetch, log } = yield* makeReplica(hub.url)
      yield* fetch
      yield* TestClock.adjust("1 hour")
      const newer = yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
      yield* fetch
      yield* hub.store.activate(older)
      hub.requests.length = 0
      expect(yield* fetch).toMatchObject({ changed: true, versionId: older, records: 5 })
      expect(log).toContain(`INFO The hub went back from version ${newer} to ${older}`)
      expect(yield* active).toEqual(yield* readActive(hub.directory))
      yield* hub.store.activate(newer)
      expect(yield* fetch).toMatchObject({ changed: true, versionId: newer })
      expect(paths(hub.requests)).toEqual(["manifest.json", "manifest.json"])
    }
  )

  withoutHub(
    "is copied while a version is held on the replica, and the last copy can be shown without the hub",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const hub = yield* makeUpstream
      const older = yield* hub.promote(first)
      yield* TestClock.adjust("1 hour")
      const newer = yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
      yield* Effect.gen(function* () {
        const { fetch, provided } = yield* makeReplica(hub.url, { directory })
        const store = yield* provided(VersionStore)
        yield* fetch
        yield* store.hold({ by: "anna@desk" })
        yield* hub.store.activate(older)
        expect(yield* fetch).toMatchObject({ changed: false, versionId: newer, held: { waiting: older } })
        hub.requests.length = 0
        expect(yield* fetch).toMatchObject({ changed: false, held: { waiting: older }, records: 5 })
        expect(paths(hub.requests)).toEqual(["manifest.json"])
      }).pipe(Effect.scoped)

      const { active, log, provided, start } = yield* makeReplica(hub.url, {
        directory,
        mode: "persistent"
      })
      const events = yield* provided(follow)
      yield* start
      const { value: told } = yield* withAdvancingClock(events.until("content:fetch:done"))
      expect(told[0]).toMatchObject({ name: "content:version:promoted", payload: { versionId: newer } })
      const { state } = yield* provided(ControllerState)
      const before = yield* state
      yield* withAdvancingClock(Effect.sleep("1 minute"))
      expect((yield* state)._version).toBe(before._version)
      expect(log.join("\n")).toContain(`Active version ${newer}, held since`)

      hub.fault(/manifest/, ...Array.from({ length: 50 }, () => hangUp))
      const { dispatch } = yield* provided(CommandBus)
      expect(yield* dispatch({ type: "content.resume" })).toEqual({ versionId: older, changed: true })
      expect((yield* active).manifest).toBe((yield* readActive(hub.directory)).manifest)
    }
  )

  scenario("that holds an older version is followed, without the hold", function* (hub) {
    const older = yield* hub.promote(first)
    yield* TestClock.adjust("1 hour")
    yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
    const { fetch, provided } = yield* makeReplica(hub.url)
    yield* fetch
    yield* hub.store.hold({ versionId: older })
    const outcome = yield* fetch
    expect(outcome).toMatchObject({ changed: true, versionId: older })
    expect(outcome).not.toMatchObject({ held: expect.anything() })
    expect(yield* provided(rowValue("Held"))).toBe(undefined)
  })

  withoutHub(
    "that starts with earlier ids, after its clock was in the future, is followed, and few versions are kept",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const edition = (edition: number) => ({ exhibits: { "objects.json": `[${edition}]` } })
      const anew = yield* makeUpstream
      yield* TestClock.setTime(Date.parse("2026-11-22T09:30:00Z"))
      yield* anew.promote(edition(3))
      const hub = yield* makeUpstream
      yield* TestClock.setTime(Date.parse("2040-01-01T00:00:00Z"))
      expect(yield* hub.promote(edition(1))).toBe("20400101T000000Z")
      const copy = Effect.flatMap(makeReplica(hub.url, { directory }), ({ fetch }) => fetch)
      yield* Effect.scoped(copy)
      yield* TestClock.setTime(Date.parse("2026-11-22T10:00:00Z"))
      // A new id is greater than all ids on disk.
      expect(yield* hub.promote(edition(2))).toBe("20400101T000000Z-01")
      yield* Effect.scoped(copy)

      const { active, fetch } = yield* makeReplica(anew.url, { directory })
      for (let next = 4; next < 10; next++) {
        expect(yield* fetch).toMatchObject({ changed: true })
        expect(yield* active).toEqual(yield* readActive(anew.directory))
        yield* anew.promote(edition(next))
      }
      expect(yield* fetch).toMatchObject({ versionId: "20261122T100000Z-05" })
      expect(yield* fs.readDirectory(`${directory}/versions`)).toEqual([
        "20261122T100000Z-04",
        "20261122T100000Z-05",
        "20400101T000000Z",
        "20400101T000000Z-01"
      ])
    }
  )

  withoutHub("that reuses an id for other content is refused, with advice", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const restored = yield* makeUpstream
    const versionId = yield* hub.promote(first)
    expect(yield* restored.promote({ exhibits: { "objects.json": "[2]" } })).toBe(versionId)
    const directory = yield* fs.makeTempDirectoryScoped()
    yield* Effect.scoped(Effect.flatMap(makeReplica(hub.url, { directory }), ({ fetch }) => fetch))
    const { active, failure, fetch } = yield* makeReplica(restored.url, { directory })
    const version = `${directory}/versions/${versionId}`
    expect(yield* failure).toContain(
      `version ${versionId} is on this disk with other files, and versions never change. If the hub is right, remove ${version}`
    )
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    yield* fs.remove(version, { recursive: true })
    expect(yield* fetch).toMatchObject({ changed: true, versionId })
    expect(yield* active).toEqual(yield* readActive(restored.directory))
  })

  withoutHub("restores missing or shortened files of a version when it is active again", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const older = yield* hub.promote(first)
    const { active, fetch, folder } = yield* makeReplica(hub.url)
    yield* fetch
    yield* hub.promote({ exhibits: { "objects.json": "[2]" } })
    yield* fetch
    yield* fs.remove(`${folder}/versions/${older}/tours/tours.json`)
    yield* hub.store.activate(older)
    expect(yield* fetch).toMatchObject({ changed: true, versionId: older })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
  })

  withoutHub("restores files of the active version that a verification found to be changed", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const versionId = yield* hub.promote(first)
    const { active, fetch, folder, provided } = yield* makeReplica(hub.url)
    yield* fetch
    yield* fs.writeFileString(`${folder}/versions/${versionId}/exhibits/films/intro.mp4`, "9876543210")
    expect(yield* provided(verify)).toMatchObject({
      problems: expect.arrayContaining([{ path: "exhibits/films/intro.mp4", problem: "content" }])
    })
    expect(yield* fetch).toMatchObject({ changed: false, versionId })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    expect(yield* provided(verify)).toMatchObject({ problems: [] })
  })

  scenario("rejects a check, and explains where to run it", function* (hub) {
    const { provided } = yield* makeReplica(hub.url)
    const check = Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.check" }))
    expect((yield* provided(Effect.flip(check))).message).toContain('run "vitrine check" on the hub')
  })

  for (const [damage, spoil] of Object.entries({
    "is cut": (list: string) => list.slice(0, -20),
    "has changed digits": (list: string) => list.replace(/"sha256": "../, '"sha256": "00'),
    "has another id": (list: string) => list.replace(/"versionId": "..../, '"versionId": "2000')
  })) {
    withoutHub(`restores the list of files of the active version if the list ${damage}`, function* () {
      const fs = yield* FileSystem.FileSystem
      const hub = yield* makeUpstream
      const versionId = yield* hub.promote(first)
      const { active, fetch, folder, log, provided } = yield* makeReplica(hub.url)
      yield* fetch
      const file = `${folder}/versions/${versionId}/files.json`
      yield* fs.writeFileString(file, spoil(yield* fs.readFileString(file)))
      expect(yield* fetch).toMatchObject({ changed: false, versionId })
      expect(yield* active).toEqual(yield* readActive(hub.directory))
      expect(yield* fs.readFileString(file)).toBe(
        yield* fs.readFileString(`${hub.directory}/versions/${versionId}/files.json`)
      )
      expect(yield* provided(verify)).toMatchObject({ problems: [] })
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        `WARN Files of version ${versionId} are missing or damaged: they are copied again.`
      ])
    })
  }

  withoutHub("restores missing or shortened files of the active version", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeUpstream
    const versionId = yield* hub.promote(first)
    const { active, fetch, folder, log } = yield* makeReplica(hub.url)
    yield* fetch
    const version = `${folder}/versions/${versionId}`
    yield* fs.remove(`${version}/tours/tours.json`)
    yield* fs.truncate(`${version}/exhibits/films/intro.mp4`, 3)
    expect(yield* fetch).toMatchObject({ changed: false, versionId })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
      `WARN Files of version ${versionId} are missing or damaged: they are copied again.`
    ])
  })
})

describe("the address of a hub", () => {
  scenario("may have credentials, which are shown nowhere", function* (hub) {
    yield* hub.promote(first)
    const secret = "p@ss/word"
    const { failure, fetch, log, provided } = yield* makeReplica(
      hub.url.replace("//", `//user:${encodeURIComponent(secret)}@`)
    )
    yield* fetch
    const expected = `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`
    expect(new Set(hub.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([expected]))
    hub.fault(/manifest/, text(401, ""))
    const shown = JSON.stringify([yield* failure, log, yield* provided(statusRows)])
    expect(shown).toContain("192.0.2.1")
    for (const text of [secret, encodeURIComponent(secret), expected.slice(6)]) {
      expect(shown).not.toContain(text)
    }
  })
})

describe("a full disk", () => {
  it.scoped.skipIf(!mayMount)("gets free space once, from versions that no screen shows", () =>
    Effect.gen(function* () {
      const disk = yield* smallDisk
      const hub = yield* makeUpstream
      const { active, failure, fetch, log, parts } = yield* makeReplica(hub.url, { directory: disk.folder })
      const promote = (text: string) => hub.promote({ exhibits: { "objects.json": text } })
      yield* promote("1".repeat(60_000))
      yield* fetch
      yield* promote("2".repeat(60_000))
      yield* fetch
      yield* promote("3".repeat(150_000))
      yield* fetch
      expect(log).toContainEqual(expect.stringMatching(/^WARN The disk is full: removed versions/))
      const before = yield* active
      yield* promote("4".repeat(2_000_000))
      expect(yield* failure).toMatch(
        new RegExp(`objects\\.json: cannot write ${disk.folder}/\\.partial/[0-9a-f]{64}: the disk is full`)
      )
      expect(yield* active).toEqual(before)
      expect(yield* parts).toEqual([])
      yield* promote("5")
      expect(yield* fetch).toMatchObject({ changed: true })
    }).pipe(environment)
  )

  it.scoped.skipIf(!mayMount)("is used again some seconds after it has free space", () =>
    Effect.gen(function* () {
      const disk = yield* smallDisk
      const hub = yield* makeUpstream
      const { active, failure, provided, start } = yield* makeReplica(hub.url, {
        directory: disk.folder,
        mode: "persistent"
      })
      yield* hub.promote({ exhibits: { "objects.json": "1".repeat(60_000) } })
      const events = yield* provided(follow)
      yield* disk.fill(10)
      expect(yield* failure).toContain("the disk is full")
      yield* start
      yield* withAdvancingClock(events.until("content:fetch:error"))
      yield* disk.free
      expect((yield* withAdvancingClock(events.until("content:fetch:done"))).took).toBeLessThan(20_000)
      expect(yield* active).toEqual(yield* readActive(hub.directory))
    }).pipe(environment)
  )
})
