/**
 * The progress of a fetch as bars on a terminal, one for each source.
 */
import { MultiBar, Presets, type SingleBar } from "cli-progress"
import * as Effect from "effect/Effect"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import { outcomeText, progressText } from "../content/contentText.ts"
import { printableLine } from "./printable.ts"

export const makeProgressBars = (stream: NodeJS.WriteStream) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => openBars(stream)),
      close
    ),
    ({ bars, multiBar }) => {
      const barOf = (source: string): SingleBar => {
        const bar =
          bars.get(source) ??
          multiBar.create(1, 0, { source: printableLine(source).padEnd(12), text: "starting" })
        bars.set(source, bar)
        return bar
      }

      const draw = ({ name, payload }: ContentEvent) => {
        switch (name) {
          case "content:source:start":
            barOf(payload.sourceId)
            break
          case "content:source:progress": {
            const bar = barOf(payload.sourceId)
            const { done, total } = stageOf(payload)
            bar.setTotal(Math.max(total, 1))
            bar.update(done, { text: printableLine(progressText(payload)) })
            break
          }
          case "content:source:done": {
            const bar = barOf(payload.sourceId)
            bar.update(bar.getTotal(), { text: outcomeText(payload) })
            break
          }
          case "content:source:error":
            barOf(payload.sourceId).update({ text: "failed" })
        }
      }

      return {
        show: (event: ContentEvent) => Effect.sync(() => draw(event)),
        log: (line: string) => (bars.size === 0 ? console.error(line) : multiBar.log(`${line}\n`))
      }
    }
  )

const openBars = (stream: NodeJS.WriteStream) => {
  const multiBar = new MultiBar(
    { stream, format: "{source} {bar} {text}", barsize: 20, hideCursor: true, forceRedraw: true },
    Presets.shades_classic
  )
  return { multiBar, bars: new Map<string, SingleBar>() }
}

/** Leaves the last state of the bars on the terminal, below all lines of the log. */
const close = ({ bars, multiBar }: ReturnType<typeof openBars>) =>
  Effect.sync(() => {
    if (bars.size > 0) {
      multiBar.update()
      multiBar.stop()
    }
  })

/** First the documents, then the files. */
const stageOf = ({ attachments, documents }: SourceProgress) => attachments ?? documents
