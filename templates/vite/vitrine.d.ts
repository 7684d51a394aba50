// What is in the tables of this project. "vitrine types" has made this file, and makes it anew: what is changed here is lost.
export {}

declare module "vitrine/client" {
  interface Content {
    readonly exhibits: {
      readonly Objects: ReadonlyArray<{
        readonly id: string
        readonly alt?: string
        readonly alt_de?: string
        readonly picture?: string
        readonly text?: string
        readonly text_de?: string
        readonly title: string
        readonly title_de?: string
        readonly year?: string
      }>
      readonly Settings: {
        readonly slideSeconds?: number
        readonly title?: string
        readonly title_de?: string
      }
    }
  }
}
