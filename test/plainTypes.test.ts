/**
 * Contexts as controllers type them that know nothing of Vitrine fit without a cast, and options that are declared without
 * Effect are those that are decoded.
 */
import { describe, expectTypeOf, it } from "@effect/vitest"
import type * as Redacted from "effect/Redacted"
import type { Result, ResultAsync } from "neverthrow"
import type { FieldSchema } from "../src/layers/documents/expect/ExpectOptions.ts"
import type { HttpTransportOptions } from "../src/layers/httpTransport/HttpTransportOptions.ts"
import type { AirtableSourceOptions } from "../src/layers/sources/tables/airtableSource.ts"
import type * as Tables from "../src/layers/sources/tables/TableConfig.ts"
import type {
  AirtableClientOptions,
  PlainSourceOptions,
  TableSourceOptions
} from "../src/layers/sources/tables/TableSourceOptions.ts"
import {
  type HttpTransportConfig,
  type HttpTransportInstance,
  type HttpTransportPlugin,
  httpTransport,
  type PlainContext,
  type TableSourceConfig
} from "../src/plain.ts"

interface Promoted {
  versionId: string
}
interface Events {
  "content:version:promoted": Promoted
  "content:fetch:start": { timestamp: string }
}
interface AckCommand {
  type: "content.ack"
  consumerId: string
}
interface FetchCommand {
  type: "content.fetch"
}
interface Slice {
  url?: string
}
type Row =
  | { type: "kv"; label: string; value: string; tone?: "ok" | "warn" | "error" | "neutral" }
  | { type: "list"; label: string; items: Row[] }
  | { type: "text"; text: string }

/** As winston has it. */
interface LogMethod {
  (message: string, callback: () => void): Logger
  (message: string, meta: object, callback: () => void): Logger
  (message: string, ...meta: ReadonlyArray<unknown>): Logger
  (info: object): Logger
}
interface Logger {
  error: LogMethod
  warn: LogMethod
  info: LogMethod
  debug: LogMethod
  verbose: LogMethod
  silly: LogMethod
}

interface Foreign {
  eventBus: {
    onAny(handler: (name: keyof Events, payload: Events[keyof Events]) => void): () => void
    offAny(handler: (name: keyof Events, payload: Events[keyof Events]) => void): void
    emit<Name extends keyof Events>(name: Name, payload: Events[Name]): boolean
  }
  logger: Logger
  abortSignal: AbortSignal
  cwd: string
  mode: "task" | "persistent"
  getStatusSnapshot(): {
    header: { startTime: string; uptimeMs: number; mode: "task" | "persistent" }
    sections: { name: string; order: number; title: string; rows: Row[] }[]
  }
  getGlobalState(): {
    system: { startTime: string; mode: "task" | "persistent"; pid: number }
    plugins: { "http-transport"?: Slice }
    _version: number
  }
  dispatchCommand(command: AckCommand | FetchCommand): ResultAsync<unknown, Error>
  onGlobalStatePatch(handler: (patches: object[]) => void): () => void
  updateState(producer: (draft: Slice) => void): void
}

/** The same with functions where the other has methods. */
interface Arrows extends Omit<Foreign, "dispatchCommand" | "updateState"> {
  dispatchCommand: (command: AckCommand) => ResultAsync<number, TypeError>
  updateState: (producer: (draft: Slice) => Slice | undefined) => Promise<void>
}

/** With a `Date`, and functions that are properties. */
interface Dated<State>
  extends Omit<Foreign, "dispatchCommand" | "getGlobalState" | "onGlobalStatePatch" | "updateState"> {
  readonly dispatchCommand: (command: { type: string; [key: string]: unknown }) => ResultAsync<unknown, Error>
  readonly getGlobalState: () => {
    system: { startTime: Date; mode: "task" | "persistent"; [key: string]: unknown }
    plugins: Partial<{ "http-transport": Slice }>
  } & { _version: number }
  readonly onGlobalStatePatch: (
    handler: (patches: { op: string; path: (string | number)[] }[], version: number) => void
  ) => () => void
  readonly updateState: (producer: (draft: State) => void) => void
}

/** Keeps the type of a plugin, as a controller with such contexts has it. */
declare const definePlugin: <
  Executed extends { type: string; [key: string]: unknown },
  State,
  E,
  Instance extends {
    disconnect?: (reason: { type: "manual" } | { type: "error"; error: Error }) => ResultAsync<void, Error>
    executeCommand?: (command: Executed) => ResultAsync<unknown, Error>
  }
>(plugin: {
  name: string
  setup(context: Dated<State>): ResultAsync<Instance, E>
}) => Instance

type Secret = string | Redacted.Redacted

describe("the types of vitrine/plain", () => {
  it("have the options that are decoded, and no others", () => {
    // A duration has a type of its own: without Effect, that of Effect would be `any`.
    type Decoded = typeof HttpTransportOptions.Encoded
    expectTypeOf<Omit<HttpTransportConfig<Secret>, "keepAliveMs">>().toEqualTypeOf<
      Omit<Decoded, "keepAliveMs">
    >()
    expectTypeOf<TableSourceConfig<Secret, FieldSchema>>().toEqualTypeOf<typeof PlainSourceOptions.Encoded>()
    expectTypeOf<Tables.TableSourceConfig<Secret, FieldSchema>>().toEqualTypeOf<
      typeof AirtableSourceOptions.Encoded
    >()
    expectTypeOf<Tables.AirtableClientConfig<Secret>>().toEqualTypeOf<typeof AirtableClientOptions.Encoded>()
    expectTypeOf<Tables.TablesConfig<FieldSchema>>().toEqualTypeOf<typeof TableSourceOptions.Encoded>()
  })

  it("accept contexts of other controllers", () => {
    expectTypeOf<Foreign>().toExtend<PlainContext>()
    expectTypeOf<Arrows>().toExtend<PlainContext>()
    expectTypeOf<Dated<Slice>>().toExtend<PlainContext>()
  })

  it("provide plugins for other controllers", () => {
    expectTypeOf<HttpTransportPlugin>().toExtend<{
      name: string
      setup: (
        context: Foreign
      ) => ResultAsync<{ disconnect?: (reason: string) => ResultAsync<void, Error> }, Error>
    }>()
    const define = () => definePlugin(httpTransport())
    expectTypeOf<ReturnType<typeof define>>().toEqualTypeOf<HttpTransportInstance>()
    expectTypeOf<Awaited<ReturnType<HttpTransportPlugin["setup"]>>>().toEqualTypeOf<
      Result<HttpTransportInstance, Error>
    >()
  })
})
