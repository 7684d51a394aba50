import * as TableSourceClientMemory from "../../../src/layers/tables/TableSourceClientMemory.ts"
import { tableSourceClientContract } from "../../services/TableSourceClient.contract.ts"

tableSourceClientContract("TableSourceClientMemory", TableSourceClientMemory.make)
