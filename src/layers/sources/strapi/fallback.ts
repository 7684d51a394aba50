/**
 * Entries in several languages, of which some have none of their own: they are filled from another language.
 */

/** An entry as Strapi gives it. */
export type Entry = Readonly<Record<string, unknown>> & { readonly documentId: string }

/** All entries of a type in one language, in the order of the server. */
export interface Translation {
  readonly locale: string
  readonly entries: ReadonlyArray<Entry>
}

/**
 * The entries of a language with those that are only in the other one, which have the `locale` that they stand for, and say in
 * `fallbackLocale` what they are written in. Each stands behind the one that it follows in its own language.
 */
export const fillFrom = ({ locale, entries }: Translation, fallback: Translation): ReadonlyArray<Entry> => {
  const own = new Set(entries.map(({ documentId }) => documentId))
  const first: Array<Entry> = []
  const followers = new Map<string, Array<Entry>>()
  let behind = first
  for (const entry of fallback.entries) {
    if (own.has(entry.documentId)) {
      behind = []
      followers.set(entry.documentId, behind)
    } else {
      behind.push({ ...entry, locale, fallbackLocale: fallback.locale })
    }
  }
  return [...first, ...entries.flatMap((entry) => [entry, ...(followers.get(entry.documentId) ?? [])])]
}
