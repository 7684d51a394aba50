import * as VersionStoreMemory from "../../../src/layers/content/VersionStoreMemory.ts"
import { versionStoreContract } from "../../../src/testing.ts"

versionStoreContract(
  "VersionStoreMemory",
  VersionStoreMemory.layer({ keepVersions: 2, ackLease: "30 minutes" })
)
