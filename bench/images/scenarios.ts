/**
 * The measurements of the sizes of pictures, with their targets.
 */
import { type Part, type Scenario, type Settings, unit } from "../scenario.ts"
import { makeSizes } from "./measure.ts"

const ours = "images"
const bare = "bare sharp"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Images",
  method:
    "A program has pictures of 12 megapixels (JPEG, grainy) made into WebP 640 and 1920 pixels wide. Bare `sharp`: the same number of processes, of the same priority, each given one picture after the other.",
  packages: ["effect", "sharp"],
  scenarios: scenarios(quick, settings)
})

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const pictures = quick ? 6 : 100
  return [
    {
      name: "images",
      note: `${pictures} pictures, to the last file; the start of the processes is part of it.`,
      variants: [
        { label: ours, run: () => makeSizes("vitrine", settings, pictures), runs: quick ? 1 : 3 },
        { label: bare, run: () => makeSizes("bare", settings, pictures), runs: quick ? 1 : 3 }
      ],
      rows: [{ figure: "time", title: "Time", format: unit("ms", 0) }],
      targets: [{ figure: "time", variant: ours, of: bare, atMost: 1.15 }]
    }
  ]
}
