/**
 * The plugin of the dashboard.
 */
import * as Effect from "effect/Effect"
import { issuesOf } from "../../internal/Options.ts"
import type { Plugin } from "../../services/Plugin.ts"
import * as Dashboard from "./Dashboard.ts"
import * as DashboardOptions from "./DashboardOptions.ts"

/**
 * Shows the state of the controller on a page, and provides endpoints for monitoring.
 *
 * @since 0.1.0
 * @category constructors
 */
export const dashboard = (config: DashboardOptions.DashboardConfig = {}): Plugin => {
  const options = DashboardOptions.decode(config)
  return {
    name: "dashboard",
    issues: issuesOf(options),
    setup: ({ addLogger }) =>
      Effect.as(
        Effect.flatMap(options, (decoded) => Dashboard.fromOptions(decoded, addLogger)),
        Effect.void
      )
  }
}
