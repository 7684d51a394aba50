// The tables of this project. "vitrine types" writes this file, and overwrites all changes.
export {}

declare module "vitrine/client" {
  interface Content {
    readonly exhibits: {
      readonly Objects: ReadonlyArray<{
        readonly id: string
        readonly alt?: string
        readonly alt_de?: string
        readonly from?: string
        readonly picture?: string
        readonly sound?: string
        readonly sound_de?: string
        readonly text?: string
        readonly text_de?: string
        readonly title: string
        readonly title_de?: string
        readonly until?: string
        readonly year?: string
      }>
      readonly Settings: {
        readonly rotate?: number
        readonly slideLanguages?: string
        readonly slideSeconds?: number
        readonly theme?: string
        readonly title?: string
        readonly title_de?: string
        readonly volume?: number
      }
    }
  }
}
