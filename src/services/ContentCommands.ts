/**
 * The built-in commands of Vitrine: their fields, beside `type`, and their results.
 */
import type { ContentCheck } from "./ContentCheck.ts"
import type { ContentDiff } from "./ContentDiff.ts"
import type { FetchOutcome } from "./ContentEvents.ts"
import type { ContentSample } from "./ContentSample.ts"
import type { AckAnswer, ScreenAction } from "./ScreenAction.ts"
import type {
  AckDetails,
  HoldOutcome,
  ManifestReading,
  Verification,
  VersionsReport
} from "./VersionStore.ts"

interface BuiltInCommand<Fields, Result> {
  readonly fields: Fields
  readonly result: Result
}

/** Who asks, for people. */
interface Asking {
  readonly by?: string
}

interface OfVersion {
  readonly versionId?: string
}

type None = Readonly<Record<never, never>>

/** The commands of a content, by their names without the name of the plugin. */
export interface ContentCommands {
  readonly fetch: BuiltInCommand<None, FetchOutcome>
  readonly check: BuiltInCommand<{ readonly source?: string }, ContentCheck | ContentSample>
  readonly "manifest.read": BuiltInCommand<None, ManifestReading>
  readonly ack: BuiltInCommand<
    { readonly consumerId: string; readonly versionId: string } & AckDetails,
    AckAnswer | undefined
  >
  readonly keep: BuiltInCommand<{ readonly versionId: string; readonly still?: boolean }, void>
  readonly verify: BuiltInCommand<OfVersion, Verification>
  readonly versions: BuiltInCommand<None, VersionsReport>
  readonly diff: BuiltInCommand<{ readonly from?: string; readonly to?: string }, ContentDiff>
  readonly rollback: BuiltInCommand<Asking & OfVersion, HoldOutcome>
  readonly hold: BuiltInCommand<Asking & { readonly until?: string }, HoldOutcome>
  readonly release: BuiltInCommand<Asking & OfVersion, HoldOutcome>
  readonly resume: BuiltInCommand<Asking, HoldOutcome>
  readonly screen: BuiltInCommand<Asking & { readonly screen: string; readonly action: ScreenAction }, void>
}

/**
 * The commands of a content named `content`, by their `type`. A command without a result returns `null` over HTTP.
 *
 * @since 0.1.0
 * @category models
 */
export type BuiltInCommands = {
  readonly [Name in keyof ContentCommands as `content.${Name}`]: ContentCommands[Name]
}
