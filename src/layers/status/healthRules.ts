/**
 * When what is wrong is not only worth a warning.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { HealthRules } from "../../services/Slices.ts"
import type { GlobalState } from "../../services/StatusSnapshot.ts"

const defaultRules: HealthRules = { failingForMs: 15 * 60_000 }

const isRules = Schema.is(HealthRules)

/** The `rules` of the first slice that has some, the dashboard's; the default ones where there is none. */
export const rulesOf = ({ plugins }: Pick<GlobalState, "plugins">): HealthRules =>
  Object.values(plugins).flatMap((slice) =>
    Predicate.hasProperty(slice, "rules") && isRules(slice.rules) ? [slice.rules] : []
  )[0] ?? defaultRules
