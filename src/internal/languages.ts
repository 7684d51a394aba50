/**
 * The languages of sentences about mistakes of content, by their codes. One more is one more module.
 */
import { english, type Language } from "./englishMistakes.ts"
import { german } from "./germanMistakes.ts"

export const languages = { en: english, de: german } as const satisfies Readonly<Record<string, Language>>

export type LanguageCode = keyof typeof languages

export const languageCodes = ["en", "de"] as const satisfies ReadonlyArray<LanguageCode>
