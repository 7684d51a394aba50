/**
 * The content plugin's core over the versions of another controller.
 */
import { poll } from "../../internal/schedules.ts"
import { makeContent } from "../fetching/makeContent.ts"
import { copyVersions } from "./copyVersions.ts"
import type { FollowingOptions } from "./ReplicaOptions.ts"

export const makeReplica = ({ commands, from, maxTimeout, name, pollEvery }: FollowingOptions) =>
  makeContent({ commands, name, schedule: poll(pollEvery) }, copyVersions({ addresses: from, maxTimeout }))
