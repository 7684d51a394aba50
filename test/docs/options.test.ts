/**
 * The tables of options in the API page come from the doc comments: `npx vitest run test/docs/options -u` writes them.
 */
import { expect, it } from "@effect/vitest"
import { read } from "../support/documents.ts"
import { notUndefined, type OptionTable, withOptionTables } from "../support/optionTables.ts"

const layers = "src/layers"

const tables = [
  {
    heading: "### `defineConfig({ … })`",
    interfaces: [[`${layers}/controller/loadConfiguration.ts`, "ConfigurationFile"]]
  },
  {
    heading: "### `content({ … })`",
    interfaces: [[`${layers}/fetching/ContentOptions.ts`, "ContentConfig"]]
  },
  {
    heading: "### Options of every source of documents",
    interfaces: [[`${layers}/documents/DocumentOptions.ts`, "DocumentConfig"]]
  },
  {
    heading: "### `media`",
    interfaces: [[`${layers}/documents/DocumentConfig.ts`, "MediaConfig"]]
  },
  {
    heading: "### `images`",
    interfaces: [[`${layers}/documents/DocumentConfig.ts`, "ImageConfig"]]
  },
  {
    heading: "### `expect`",
    interfaces: [[`${layers}/documents/DocumentConfig.ts`, "TableExpectation"]]
  },
  {
    heading: "### `folderSource({ … })`",
    interfaces: [[`${layers}/sources/folder/folderSource.ts`, "FolderSourceConfig"]]
  },
  {
    heading: "### `jsonSource({ … })`",
    interfaces: [[`${layers}/sources/json/JsonSourceOptions.ts`, "JsonSourceConfig"]]
  },
  {
    heading: "### A document of `jsonSource`",
    interfaces: [[`${layers}/sources/json/JsonSourceOptions.ts`, "JsonDocument"]]
  },
  {
    heading: "### `tableSource({ … })`",
    interfaces: [
      [`${layers}/sources/tables/TableConfig.ts`, "TablesConfig"],
      [`${layers}/sources/tables/TableConfig.ts`, "AirtableClientConfig"],
      [`${layers}/sources/tables/TableConfig.ts`, "TableSourceConfig"]
    ]
  },
  {
    heading: "### `strapiSource({ … })`",
    interfaces: [[`${layers}/sources/strapi/StrapiOptions.ts`, "StrapiSourceConfig"]]
  },
  {
    heading: "### `sanitySource({ … })`",
    interfaces: [[`${layers}/sources/sanity/SanityOptions.ts`, "SanitySourceConfig"]]
  },
  {
    heading: "### `directusSource({ … })`",
    interfaces: [[`${layers}/sources/directus/DirectusOptions.ts`, "DirectusSourceConfig"]]
  },
  {
    heading: "### `source({ … })`",
    interfaces: [[`${layers}/sources/function/source.ts`, "SourceConfig"]]
  },
  {
    heading: "### `httpTransport({ … })`",
    interfaces: [[`${layers}/httpTransport/HttpTransportConfig.ts`, "HttpTransportConfig"]]
  },
  {
    heading: "### `contentServer({ … })`",
    interfaces: [[`${layers}/contentServer/ContentServerOptions.ts`, "ContentServerConfig"]]
  },
  {
    heading: "### `dashboard({ … })`",
    interfaces: [[`${layers}/dashboard/DashboardOptions.ts`, "DashboardConfig"]]
  },
  {
    heading: "### `replica({ … })`",
    interfaces: [[`${layers}/replica/ReplicaOptions.ts`, "ReplicaLayerConfig"]]
  }
] as const

it("the tables of options in the API page are those of the doc comments", async () => {
  await expect(withOptionTables(read("docs/api.md"), tables)).toMatchFileSnapshot("../../docs/api.md")
})

it("every option that may be left out takes undefined as well", () => {
  const interfaces: OptionTable["interfaces"] = [
    ...tables.flatMap(({ interfaces }): OptionTable["interfaces"] => interfaces),
    [`${layers}/alerts/AlertOptions.ts`, "AlertConfig"],
    [`${layers}/client/Options.ts`, "Options"],
    [`${layers}/controller/identityOptions.ts`, "NodeConfig"],
    [`${layers}/controller/identityOptions.ts`, "ExpectedConfig"],
    [`${layers}/documents/DocumentSource.ts`, "DocumentSource"],
    [`${layers}/fetching/Content.ts`, "FetchingConfig"],
    [`${layers}/sources/directus/DirectusOptions.ts`, "DirectusCollection"],
    [`${layers}/sources/sanity/SanityOptions.ts`, "SanityQuery"],
    [`${layers}/sources/strapi/StrapiOptions.ts`, "StrapiType"],
    [`${layers}/vite/plugin.ts`, "VitrineOptions"]
  ]
  expect(interfaces.flatMap(([file, name]) => notUndefined(file, name))).toEqual([])
})
