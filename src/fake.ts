/**
 * `vitrine/client/fake`: `vitrine/client` for tests of a page, without a controller. For Node and browsers.
 */
export { type Fake, type FakeContent, fake } from "./layers/client/fake.ts"
