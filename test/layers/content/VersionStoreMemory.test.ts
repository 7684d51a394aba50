import * as VersionStoreMemory from "../../../src/layers/content/VersionStoreMemory.ts"
import { versionStoreContract } from "../../services/VersionStore.contract.ts"

versionStoreContract(
  "VersionStoreMemory",
  VersionStoreMemory.layer({ keepVersions: 2, ackLease: "30 minutes" })
)
