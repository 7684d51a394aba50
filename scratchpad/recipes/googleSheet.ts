/**
 * A sheet that Google Sheets publishes as CSV: each row is a record, by the names in the first row.
 */
import { jsonSource } from "vitrine"

const { SHEET = "https://docs.google.com/spreadsheets/d/e/2PACX-…/pub?gid=0&single=true&output=csv" } =
  process.env

export const googleSheet = jsonSource({
  id: "sheet",
  documents: { objects: { url: SHEET, as: "csv", key: "number" } },
  expect: { objects: { fields: { title: "text", year: "number?" } } }
})
