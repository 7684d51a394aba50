/**
 * Numbers of JSON that a number of JavaScript does not hold.
 */

/** Every number that is not exact is one of these. */
const long = /(?:^|[[:,])\s*(-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d{3,}))/g

/** Whether the text of JSON may have a number that `isExact` is not true of. It may as well be in a string. */
export const mayHaveInexactNumbers = (text: string): boolean => {
  for (const [, written = ""] of text.matchAll(long)) {
    if (!isExact(written)) return true
  }
  return false
}

/** The longest number, in characters: a longer one is never exact. */
export const maxNumberLength = 1000

/** Whether it is the text of a number that would lose digits. */
export const isInexact = (text: string): boolean => number.test(text) && !isExact(text)

const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Whether the number that JSON writes like this is the same when it is saved. A decimal is also exact where its digits are those of a double
 * that is written with as many: `0.10000000000000001` is what some programs write for `0.1`.
 */
export const isExact = (written: string): boolean => {
  const value = Number(written)
  if (String(value) === written) return true
  if (!Number.isFinite(value) || written.length > maxNumberLength) return false
  const { digits, exponent } = partsOf(written)
  if (isSame(partsOf(String(value)), { digits, exponent })) return true
  return (
    exponent < 0 &&
    digits.length <= maxDigits &&
    value !== 0 &&
    isSame(partsOf(value.toPrecision(digits.length)), { digits, exponent })
  )
}

/** More tell no double from its neighbour. */
const maxDigits = 17

interface Parts {
  /** Without zeros at both ends. */
  readonly digits: string
  /** The exponent of the last digit. */
  readonly exponent: number
}

const partsOf = (written: string): Parts => {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? []
  const all = `${whole}${fraction}`
  const significant = all.replace(/0+$/, "")
  return {
    digits: significant.replace(/^0+/, ""),
    exponent: significant === "" ? 0 : Number(exponent) - fraction.length + all.length - significant.length
  }
}

const isSame = (one: Parts, other: Parts): boolean =>
  one.digits === other.digits && one.exponent === other.exponent
