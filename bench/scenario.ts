/**
 * What a benchmark is made of, and how its figures are written.
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
  /** Given to Node in front of the module that is measured. */
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
  /** The label of the variant whose figure it is judged by, in relation to `of`. */
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
  /** Runs all variants as often as is needed at the same time: they leave the processor to each other. */
  readonly together?: boolean
}

export const unit = (unit: string, digits: number) => (value: number) => `${value.toFixed(digits)} ${unit}`
export const percent = (digits: number) => (value: number) => unit("%", digits)(value * 100)
export const count = (value: number) => value.toFixed(0)
