import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { AttachmentFolder } from "../../../src/layers/tableServer/AttachmentFolder.ts"
import { InvalidTableFile } from "../../../src/layers/tableServer/FileCache.ts"
import * as FolderChanges from "../../../src/layers/tableServer/FolderChanges.ts"
import { fieldId, tableId } from "../../../src/layers/tableServer/identifiers.ts"
import type { TableFolder } from "../../../src/layers/tableServer/TableFolder.ts"
import * as Webhook from "../../../src/layers/tableServer/Webhook.ts"
import * as Webhooks from "../../../src/layers/tableServer/Webhooks.ts"

type Cells = Readonly<Record<string, string>>
type Records = Readonly<Record<string, Cells>>
/** By table, then by record. A table that is `null` cannot be read. */
type Tables = Readonly<Record<string, Records | null>>

const attachments: AttachmentFolder = { find: () => Effect.dieMessage("there are no attachments") }

/** Tables in memory, and webhooks that watch them. The table `Slow` is read when `slow` says so. */
const watch = Effect.gen(function* () {
  let tables: Tables = {}
  let slow: Effect.Effect<void> = Effect.void
  const folder: TableFolder = {
    directory: "/tables",
    names: Effect.sync(() => Object.keys(tables)),
    views: Effect.succeed({}),
    find: (name) => {
      const records = tables[name]
      if (name === "Slow") return Effect.as(slow, Option.none())
      if (records === null) return new InvalidTableFile({ file: name, problem: "is malformed." })
      return Effect.succeed(
        Option.map(Option.fromNullable(records), (records) => ({
          name,
          fieldNames: ["a", "b"],
          records: Object.entries(records).map(([id, fields]) => ({ id, createdTime: "", fields }))
        }))
      )
    }
  }
  const webhooks = yield* Webhooks.make(FolderChanges.make(folder, attachments))
  const edit = (edited: Tables) =>
    Effect.sync(() => {
      tables = edited
    })
  const slowDown = (until: Effect.Effect<void>) =>
    Effect.sync(() => {
      slow = until
    })
  return { ...webhooks, edit, slowDown }
})

const record = FastCheck.record(
  { a: FastCheck.constantFrom("1", "2", "3"), b: FastCheck.constantFrom("1", "2", "3") },
  { requiredKeys: [] }
)
const records = FastCheck.dictionary(FastCheck.constantFrom("rec1", "rec2", "rec3", "rec4"), record)
const tables = FastCheck.dictionary(
  FastCheck.constantFrom("One", "Two", "Three"),
  FastCheck.oneof({ arbitrary: records, weight: 5 }, { arbitrary: FastCheck.constant(null), weight: 1 })
)

const step = FastCheck.oneof(
  FastCheck.record({ kind: FastCheck.constant("edit" as const), tables }),
  FastCheck.record({
    kind: FastCheck.constant("read" as const),
    limit: FastCheck.integer({ min: 1, max: 3 })
  })
)

/** The tables of a reader who knows nothing but payloads. */
class Copy {
  readonly tables = new Map<string, Map<string, Cells>>()

  apply({ body }: Webhook.Payload) {
    assert.notProperty(body, "error")
    if ("error" in body) return
    for (const table of body.destroyedTableIds ?? []) assert.isTrue(this.tables.delete(table))
    for (const table of Object.keys(body.createdTablesById ?? {})) {
      assert.isFalse(this.tables.has(table))
      this.tables.set(table, new Map())
    }
    for (const [table, change] of Object.entries(body.changedTablesById ?? {})) {
      const copy = this.tables.get(table)
      assert.isDefined(copy)
      if (copy !== undefined && !("createdFieldsById" in change)) applyRecords(copy, change)
    }
  }
}

const applyRecords = (copy: Map<string, Cells>, change: object) => {
  const { changedRecordsById, createdRecordsById, destroyedRecordIds } = change as {
    createdRecordsById?: Readonly<Record<string, { cellValuesByFieldId: Cells }>>
    changedRecordsById?: Readonly<
      Record<string, { current: { cellValuesByFieldId: Readonly<Record<string, string | null>> } }>
    >
    destroyedRecordIds?: ReadonlyArray<string>
  }
  for (const id of destroyedRecordIds ?? []) assert.isTrue(copy.delete(id))
  for (const [id, { cellValuesByFieldId }] of Object.entries(createdRecordsById ?? {})) {
    assert.isFalse(copy.has(id))
    copy.set(id, cellValuesByFieldId)
  }
  for (const [id, { current }] of Object.entries(changedRecordsById ?? {})) {
    const cells = { ...copy.get(id), ...current.cellValuesByFieldId }
    assert.notDeepEqual<unknown>(cells, copy.get(id))
    copy.set(
      id,
      Object.fromEntries(
        Object.entries(cells).flatMap(([field, cell]) => (cell === null ? [] : [[field, cell]]))
      )
    )
  }
}

const copyOf = (readable: ReadonlyMap<string, Records>) =>
  new Map(
    [...readable].map(([name, records]) => [
      tableId(name),
      new Map(
        Object.entries(records).map(([id, cells]) => [
          id,
          Object.fromEntries(Object.entries(cells).map(([field, cell]) => [fieldId(name, field), cell]))
        ])
      )
    ])
  )

describe("Webhooks", () => {
  it.prop(
    "have every change in their payloads once, whenever somebody reads",
    [FastCheck.array(step, { maxLength: 20 })],
    ([steps]) =>
      Effect.gen(function* () {
        const { create, edit, payloads } = yield* watch
        const { id } = yield* create("app", ["tableData"])
        const other = yield* create("app", ["tableData"])
        const read: Array<Webhook.Payload> = []
        const copy = new Copy()
        /** What can be read of the tables, or could be before they were malformed. */
        let readable = new Map<string, Records>()
        let looked = new Map<string, Records>()
        let cursor = 1
        const page = (limit: number) =>
          Effect.gen(function* () {
            const asked = yield* payloads("app", id, { cursor, limit })
            looked = readable
            assert.strictEqual(asked.cursor, cursor + asked.payloads.length)
            assert.isAtMost(asked.payloads.length, limit)
            assert.isTrue(asked.payloads.length === limit || !asked.mightHaveMore)
            cursor = asked.cursor
            read.push(...asked.payloads)
            for (const payload of asked.payloads) copy.apply(payload)
            return asked.mightHaveMore
          })
        for (const step of steps) {
          if (step.kind === "edit") {
            yield* edit(step.tables)
            readable = new Map(
              Object.entries(step.tables).flatMap(([name, records]) => {
                // A malformed table is as it was when somebody looked.
                const known = records ?? looked.get(name)
                return known === undefined ? [] : [[name, known] as const]
              })
            )
          } else {
            yield* page(step.limit)
          }
        }
        yield* Effect.repeat(page(2), { while: (mightHaveMore) => mightHaveMore })
        assert.deepStrictEqual(copy.tables, copyOf(readable))
        const whole = yield* payloads("app", other.id, { cursor: 1, limit: 1000 })
        assert.deepStrictEqual(whole.payloads, read)
        assert.strictEqual(whole.cursor, cursor)
      }).pipe(Effect.runSync),
    { fastCheck: { numRuns: 100 } }
  )

  it.effect("have the changes that were found for a reader who left", () =>
    Effect.gen(function* () {
      const { create, edit, payloads, slowDown } = yield* watch
      const { id } = yield* create("app", ["tableData"])
      yield* edit({ One: { rec1: {} }, Slow: {} })
      const isReading = yield* Deferred.make<void>()
      yield* slowDown(Effect.zipRight(Deferred.succeed(isReading, undefined), Effect.never))
      const reader = yield* Effect.fork(payloads("app", id, { cursor: 1, limit: 50 }))
      yield* Deferred.await(isReading)
      yield* Fiber.interrupt(reader)
      yield* slowDown(Effect.void)
      assert.strictEqual((yield* payloads("app", id, { cursor: 1, limit: 50 })).cursor, 3)
    })
  )

  it("keep a bounded number of payloads, and readers see the gap", () => {
    const many = Array.from({ length: Webhook.maxPayloads + 5 }, (_, transaction) => ({
      noticedAt: 0,
      transaction,
      body: {}
    }))
    const webhook = many.reduce(
      (webhook, payload) => Webhook.append(webhook, [payload], 0),
      Webhook.make("ach", ["tableData"], 0)
    )
    const page = Webhook.pageAt(webhook, 1, 50)
    assert.deepStrictEqual(page, { payloads: many.slice(5, 55), cursor: 56, mightHaveMore: true })
    const rest = Webhook.pageAt(webhook, page.cursor, Webhook.maxPayloads)
    assert.deepStrictEqual(rest.payloads, many.slice(55))
    assert.strictEqual(rest.cursor, many.length + 1)
  })

  it.effect("do not count those that are gone among the ten", () =>
    Effect.gen(function* () {
      const { create } = yield* watch
      yield* Effect.replicateEffect(create("app", ["tableData"]), Webhooks.maxWebhooks)
      yield* TestClock.adjust(2 * Webhook.weekMs - 1)
      yield* Effect.flip(create("app", ["tableData"]))
      yield* TestClock.adjust(1)
      yield* create("app", ["tableData"])
    })
  )
})
