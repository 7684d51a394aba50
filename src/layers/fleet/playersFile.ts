/**
 * The file in which a hub keeps its players over a restart: `.players.json` beside the manifest, which no server gives away.
 */

import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { replaceFile } from "../../internal/durable.ts"
import { makePath } from "../../internal/makePath.ts"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { partsOf } from "../../internal/partsOf.ts"
import { explain } from "../../internal/systemError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { Player } from "../../services/PlayerReport.ts"
import { maxPlayers } from "./registry.ts"

/** A larger file is not read. The largest reports of all players need less. */
const maxBytes = 2 * maxPlayers * 16_384

/** Restarts and duplicates are found again after a restart of the hub, and are not read from the file. */
const decode = Schema.decodeUnknown(Schema.parseJson(Schema.Array(Player.omit("duplicate", "restarts"))))

/** How many players are written between two turns of the event loop. */
const batch = 64

export const make = Effect.fnUntraced(function* (downloadPath: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(downloadPath)
  const file = path.join(root, ".players.json")
  const staging = path.join(root, ".staging")
  const writing = makeWarnWhile(
    (reason) =>
      `${file} cannot be written, and is tried again each minute: ${reason} After a restart, players are listed once they report.`
  )

  const readPlayers = Effect.gen(function* () {
    const { size, type } = yield* fs.stat(file)
    if (type !== "File" || size > maxBytes) {
      return yield* Effect.fail("it is no file that a hub writes")
    }
    return yield* Effect.mapError(decode(yield* fs.readFileString(file)), (error) =>
      issueText(placedIssues(error))
    )
  })

  /** In parts, so that nothing else waits for a thousand players. */
  const textOf = (players: ReadonlyArray<Player>) =>
    Effect.forEach(partsOf(players, batch), (players) =>
      Effect.zipLeft(
        Effect.sync(() => players.map((player) => JSON.stringify(player)).join(",\n")),
        Effect.yieldNow()
      )
    ).pipe(Effect.map((parts) => `[${parts.join(",\n")}]\n`))

  return {
    /** Those that were written last; none, with a warning, where they cannot be read. */
    read: Effect.catchAll(readPlayers, (reason) => {
      if (typeof reason !== "string" && reason._tag === "SystemError" && reason.reason === "NotFound") {
        return Effect.succeed<ReadonlyArray<Player>>([])
      }
      const why = typeof reason === "string" ? reason : explain(reason)
      return Effect.as(
        Effect.logWarning(`${file} cannot be used, and players are listed once they report: ${why}`),
        []
      )
    }),

    /** Replaces the file as a whole, and gives whether that could be done; the first failure in a row is a warning. */
    write: (players: ReadonlyArray<Player>) =>
      makePath(staging).pipe(
        Effect.zipRight(textOf(players)),
        Effect.flatMap((text) => replaceFile(file, text, { staging })),
        Effect.zipRight(Effect.as(writing.works, true)),
        Effect.catchAll((error) => Effect.as(writing.fails(explain(error)), false)),
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.provideService(Path.Path, path)
      )
  }
})
