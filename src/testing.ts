/**
 * Vitrine for tests of your own services: the suites that every implementation of a contract passes, and a client
 * of tables without sockets, with controls for what goes wrong.
 *
 * The suites are tests of `vitest` and `@effect/vitest`, which are to be installed: call them in a test file.
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
