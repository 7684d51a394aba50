import { expect, it } from "@effect/vitest"
import { withDependents } from "../../../../src/layers/sources/airtable/baseSchema.ts"

it("tables that depend on others are found in as many steps as there are links", () => {
  let links = 0
  const link = (linkedTableId: string) => ({
    get options() {
      links++
      return { linkedTableId }
    }
  })
  const schema = Array.from({ length: 1000 }, (_, index) => ({
    id: `tbl${index}`,
    name: `Table ${index}`,
    fields: [{ type: "rollup" }, link(`tbl${index - 1}`), link("tblGone")]
  }))
  expect(withDependents(schema, new Set(["tbl0"])).size).toBe(1000)
  expect(links).toBeLessThanOrEqual(4000)
})
