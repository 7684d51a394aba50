/**
 * Vitrine for tests of your own services: suites that every implementation of a contract must pass, and a client of
 * tables without sockets, with controls for faults.
 *
 * Implementations are property-tested with `@effect/vitest` and `TestClock`.
 *
 * The suites need `vitest` and `@effect/vitest`: install both, and call the suites in a test file.
 */

export { withAdvancingClock } from "./testing/advancingClock.ts"
export { type CommandBusTraits, commandBusContract } from "./testing/commandBusContract.ts"
export {
  type ContentSourceHarness,
  type ContentSourceTraits,
  contentSourceContract
} from "./testing/contentSourceContract.ts"
export { type EventBusTraits, eventBusContract } from "./testing/eventBusContract.ts"
export { eventBusWrapperContract } from "./testing/eventBusWrapperContract.ts"
export { type ReplayBacklogTraits, replayBacklogContract } from "./testing/replayBacklogContract.ts"
export * as TableSourceClientMemory from "./testing/TableSourceClientMemory.ts"
export {
  type TableSourceClientHarness,
  type TableSourceClientTraits,
  tableSourceClientContract
} from "./testing/tableSourceClientContract.ts"
