/**
 * The parts of a benchmark, and the formats of its figures.
 */

/** Scenarios that share their peers and their method. */
export interface Part {
  readonly title: string
  readonly method: string
  /** The packages whose versions matter. */
  readonly packages: ReadonlyArray<string>
  readonly scenarios: ReadonlyArray<Scenario>
}

export interface Settings {
  /** Arguments of Node before the measured module. */
  readonly nodeArguments: ReadonlyArray<string>
}

export type Figures = Readonly<Record<string, number>>

export interface Variant {
  readonly label: string
  readonly run: () => Promise<Figures>
  /** Default: as often as all. */
  readonly runs?: number
}

export interface Target {
  readonly figure: string
  /** The label of the variant whose figure is judged, in relation to `of`. */
  readonly variant: string
  /** Absent: the figure itself is judged. */
  readonly of?: string
  readonly atMost?: number
  readonly atLeast?: number
}

export interface Row {
  readonly figure: string
  readonly title: string
  readonly format: (value: number) => string
}

export interface Scenario {
  readonly name: string
  readonly note: string
  readonly variants: ReadonlyArray<Variant>
  readonly rows: ReadonlyArray<Row>
  readonly targets: ReadonlyArray<Target>
  /** Runs all variants at the same time, as often as needed, because they leave the processor idle. */
  readonly together?: boolean
}

export const unit = (unit: string, digits: number) => (value: number) => `${value.toFixed(digits)} ${unit}`
export const percent = (digits: number) => (value: number) => unit("%", digits)(value * 100)
export const count = (value: number) => value.toFixed(0)
