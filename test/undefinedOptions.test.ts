/**
 * Options that may be left out may be `undefined`: what a program has only sometimes needs no spread.
 */
import { expect, it } from "@effect/vitest"
import {
  content,
  contentServer,
  dashboard,
  defineConfig,
  directusSource,
  folderSource,
  httpTransport,
  jsonSource,
  replica,
  sanitySource,
  source,
  strapiSource,
  tableSource
} from "../src/index.ts"

const everySource = { id: "a", expect: undefined, steps: undefined, maxTimeout: undefined, images: undefined }

const all = {
  ...everySource,
  media: { hosts: ["cdn.museum.example"], find: undefined, headers: undefined, maxBytes: undefined }
}

it.each([
  folderSource({ ...all, directory: "content", pictures: undefined, delimiter: undefined }),
  jsonSource({
    ...all,
    expect: { b: { fields: undefined, minRecords: undefined, maxVanishing: undefined } },
    documents: { b: { url: "https://museum.example/b", as: undefined, next: undefined, total: undefined } }
  }),
  source({ ...all, fetch: () => ({}), poll: undefined, keys: undefined }),
  strapiSource({
    ...all,
    url: "https://cms.museum.example",
    token: undefined,
    types: { articles: { sort: undefined, populate: undefined, fields: undefined, filters: undefined } }
  }),
  directusSource({
    ...all,
    url: "https://cms.museum.example",
    collections: { articles: { sort: undefined, filter: undefined, deep: undefined, key: undefined } }
  }),
  sanitySource({
    ...everySource,
    media: undefined,
    projectId: "p",
    dataset: "d",
    queries: { b: { groq: "*", params: undefined, key: undefined } }
  }),
  tableSource({ id: "a", baseId: "app", apiKey: "key", tables: ["B"], links: undefined, changes: undefined }),
  content({ sources: [], fetchEvery: undefined, maxAge: undefined, release: undefined }),
  replica({ from: "http://hub:8730", report: undefined, pollEvery: undefined }),
  contentServer({ site: undefined, reports: undefined, allowedHosts: undefined }),
  httpTransport({ token: undefined, allowedOrigins: undefined, requireJson: undefined }),
  dashboard({ token: undefined, allowedHosts: undefined })
])("takes undefined for options that may be left out: %#", ({ issues }) => {
  expect(issues).toEqual([])
})

it("takes undefined in a configuration", () => {
  defineConfig({
    plugins: [],
    node: { id: undefined, label: undefined },
    screens: [
      { id: "left", label: undefined, hours: { mon: "10:00-18:00", tue: undefined, zone: undefined } }
    ],
    players: undefined,
    hours: undefined,
    alerts: { url: "https://chat.example/hooks", headers: undefined, after: undefined },
    services: undefined
  })
})
