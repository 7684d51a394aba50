/**
 * The content plugin's core over the versions of another controller.
 */
import { makeContent } from "../content/makeContent.ts"
import { copyVersions } from "./copyVersions.ts"
import { pollPauses } from "./pollPauses.ts"
import type { ReplicaLayerOptions } from "./ReplicaOptions.ts"

export const makeReplica = ({
  commands,
  directory,
  from,
  maxTimeout,
  name,
  pollEvery
}: ReplicaLayerOptions) =>
  makeContent(
    { commands, name, pauses: pollPauses(pollEvery) },
    copyVersions({ addresses: from, directory, maxTimeout })
  )
