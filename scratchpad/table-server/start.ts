/**
 * The table server without a controller:
 *
 *     npx jiti scratchpad/table-server/start.ts FOLDER [PORT]
 */
import { serveTables, urlOf } from "./serveTables.ts"

const [, , directory = "scratchpad/exhibit/tables", port = "8740"] = process.argv
const server = await serveTables(directory, Number(port))
console.log(`Serving the tables of ${directory} at ${urlOf(server)}`)
