/**
 * Text that somebody else wrote, as a log or a status may show it.
 */

/** Controls, format characters (bidirectional overrides among them), lone surrogates and separators of lines. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text without anything that a terminal would act on, and cut where it has more than so many characters. */
export const printable = (text: string, maxLength: number): string => {
  // One more than is shown, and no half of a pair: the rest of a long text is not looked at.
  const characters = Array.from(text.slice(0, 2 * maxLength + 2)).slice(0, maxLength + 1)
  const shown = characters.slice(0, maxLength).join("").replace(unprintable, "\ufffd")
  return characters.length > maxLength ? `${shown}…` : shown
}
