/**
 * Whether this process takes a file from the user that it belongs to: from its own, and root from anybody. On
 * Windows this is no question.
 */
export const isTrustedOwner = (uid: number): boolean => {
  const own = process.getuid?.()
  return own === undefined || own === 0 || own === uid
}
