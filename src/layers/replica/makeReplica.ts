/**
 * The content plugin's core over the versions of another controller.
 */
import { makeContent } from "../content/makeContent.ts"
import { copyVersions } from "./copyVersions.ts"
import { pollPauses } from "./pollPauses.ts"
import type { FollowingOptions } from "./ReplicaOptions.ts"

export const makeReplica = ({ commands, from, maxTimeout, name, pollEvery }: FollowingOptions) =>
  makeContent(
    { commands, name, pauses: pollPauses(pollEvery) },
    copyVersions({ addresses: from, maxTimeout })
  )
