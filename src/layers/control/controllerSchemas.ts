/**
 * The state of a controller, as it comes out of JSON.
 */
import * as Schema from "effect/Schema"
import type { GlobalState, Row, StatusSnapshot } from "../../services/ControllerState.ts"
import { Problem } from "../../services/Problem.ts"
import { HoursOptions } from "../status/openingHours.ts"

const Mode = Schema.Literal("task", "persistent")
const text = Schema.optionalWith(Schema.String, { exact: true })
const node = Schema.optionalWith(Schema.Struct({ id: Schema.String, label: text, role: text }), {
  exact: true
})
const hours = Schema.optionalWith(Schema.typeSchema(HoursOptions), { exact: true })
const expected = Schema.optionalWith(Schema.Array(Schema.Struct({ id: Schema.String, label: text, hours })), {
  exact: true
})
const tone = Schema.optionalWith(Schema.Literal("ok", "warn", "error", "neutral"), { exact: true })

const RowSchema: Schema.Schema<Row> = Schema.Union(
  Schema.Struct({ type: Schema.Literal("kv"), label: Schema.String, value: Schema.String, tone }),
  Schema.Struct({
    type: Schema.Literal("list"),
    label: Schema.String,
    items: Schema.Array(Schema.suspend(() => RowSchema))
  }),
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, tone })
)

export const StatusSnapshotSchema: Schema.Schema<StatusSnapshot> = Schema.Struct({
  header: Schema.Struct({ startTime: Schema.String, uptimeMs: Schema.Number, mode: Mode, node }),
  sections: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      order: Schema.optionalWith(Schema.Number, { exact: true }),
      title: Schema.String,
      rows: Schema.Array(RowSchema)
    })
  )
})

export const GlobalStateSchema: Schema.Schema<GlobalState> = Schema.Struct({
  system: Schema.Struct({
    startTime: Schema.String,
    mode: Mode,
    node,
    hours,
    screens: expected,
    players: expected
  }),
  plugins: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  problems: Schema.optionalWith(Schema.Array(Problem), { exact: true }),
  _version: Schema.Number
})
