import * as Predicate from "effect/Predicate"

/** Whether a connection failed because of the server's certificate: another try would fail as well. */
export const isCertificateProblem = (error: unknown): boolean => certificateCode(error) !== undefined

/** Whether that passes by itself: the clock of a machine without a network is often behind, until it has one. */
export const isNotYetValid = (error: unknown): boolean => certificateCode(error) === "CERT_NOT_YET_VALID"

const certificateCode = (error: unknown, depth = 0): string | undefined =>
  Predicate.hasProperty(error, "code") && codes.has(String(error.code))
    ? String(error.code)
    : Predicate.hasProperty(error, "cause") && depth < 8
      ? certificateCode(error.cause, depth + 1)
      : undefined

/** As Node names them: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const codes = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

/** What to check then, as in "Check …". */
export const certificateAdvice =
  "the clock of this machine, and whether its network intercepts TLS (the environment variable NODE_EXTRA_CA_CERTS names a file of further authorities)"
