/**
 * The measurements of media, with their sizes and targets.
 */
import { count, type Part, type Scenario, type Settings, unit } from "../scenario.ts"
import { bare, curl, find, media } from "./measure.ts"

const parallel = "curl --parallel"
const conditional = "bare conditional requests"
const asked = "vitrine, each file asked for"
const proven = "vitrine, with a version in the document"
const found = "vitrine"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Media",
  method:
    "nginx serves the files on loopback; the program that saves them is a process of its own, started anew for each run, and its time that of one fetch of a source with a document of links. Peer: `curl --parallel --parallel-max 6`, from its start to its end; where nothing has changed, one conditional request for each file by bare undici, six at a time, in a process that has just started.",
  packages: ["effect", "@effect/platform", "@effect/platform-node"],
  scenarios: scenarios(quick, settings)
})

const ratio = (value: number) => value.toFixed(2)

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const served = { files: quick ? 500 : 2000, bytes: 100_000 }
  const documents = quick ? 2000 : 10_000
  return [
    {
      name: "media",
      note: `${served.files} files of 100 kB, and then once more with nothing changed: one conditional request for each file, or none where the document proves it.`,
      variants: [
        { label: parallel, run: () => curl(served) },
        { label: conditional, run: () => bare(served, settings) },
        { label: asked, run: () => media(served, settings, false) },
        { label: proven, run: () => media(served, settings, true) }
      ],
      rows: [
        { figure: "time", title: "Time", format: unit("ms", 0) },
        { figure: "timeAgain", title: "Once more", format: unit("ms", 0) },
        { figure: "cpuAgain", title: "CPU, once more", format: unit("ms", 0) },
        { figure: "shareAgain", title: "Once more, of the first", format: ratio },
        { figure: "downloadedAgain", title: "Downloaded once more", format: count },
        { figure: "changedAgain", title: "New versions", format: count }
      ],
      targets: [
        { figure: "time", variant: asked, of: parallel, atMost: 1.3 },
        { figure: "cpuAgain", variant: asked, of: conditional, atMost: 3.5 },
        { figure: "shareAgain", variant: asked, atMost: 0.6 },
        { figure: "downloadedAgain", variant: asked, atMost: 0 },
        { figure: "shareAgain", variant: proven, atMost: 0.1 },
        { figure: "downloadedAgain", variant: proven, atMost: 0 }
      ]
    },
    {
      name: "links",
      note: `The link of each of ${documents} documents of a kilobyte, from the file; beside it, reading the file, \`JSON.parse\` and \`JSON.stringify\`.`,
      variants: [{ label: found, run: () => find(documents, settings) }],
      rows: [
        { figure: "time", title: "Time", format: unit("ms", 0) },
        { figure: "parsed", title: "Parsing and writing", format: unit("ms", 0) },
        { figure: "ofParsing", title: "Time, of that", format: ratio },
        { figure: "links", title: "Links", format: count }
      ],
      targets: [{ figure: "ofParsing", variant: found, atMost: 1.5 }]
    }
  ]
}
