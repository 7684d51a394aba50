/**
 * Common code with the official client: all records of a table, then one file of JSON with a record per line.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import Airtable from "airtable"
import { apiKey, baseId, view } from "../protocol.ts"
import { serve } from "./serve.ts"

serve(async ({ directory, endpointUrl, tables }) => {
  const base = new Airtable({ apiKey, endpointUrl }).base(baseId)
  for (const table of tables) {
    const records = await base(table).select({ view }).all()
    const saved = records.map(({ fields, id }) => ({
      id,
      ...Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)))
    }))
    const lines = saved.map((record) => JSON.stringify(record)).join(",\n")
    await writeFile(join(directory, `${table}.json`), saved.length === 0 ? "[]\n" : `[\n${lines}\n]\n`)
  }
  return { directory, changed: true }
})
