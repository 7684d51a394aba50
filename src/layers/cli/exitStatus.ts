/**
 * The exit statuses of commands (docs/operate.md).
 */
const statuses = { success: 0, failure: 1, fetchFailed: 3 }

/** The status of a command that ends without an error. The last one that is set counts. */
export const setExitStatus = (status: keyof typeof statuses): void => {
  process.exitCode = statuses[status]
}
