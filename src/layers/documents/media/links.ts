/**
 * Links in text, and which of them lead to the same file.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import mime from "mime"
import { hashOfName } from "../../../files/fileName.ts"
import { mapParts } from "../jsonValues.ts"

/** A longer text is no link. */
const maxLength = 8192

/**
 * Whether a text is a link to look at where nothing says that it is one: with a scheme and a host, or from the root or a dot on. With
 * spaces in it, it is one where its path ends in the extension of a known type: otherwise it is a sentence.
 */
export const looksLikeLink = (text: string): boolean => {
  if (text.length > maxLength) return false
  const link = text.trim()
  const [, spacedPath = ""] = spaced.exec(link) ?? []
  return unspaced.test(link) || mime.getType(spacedPath) !== null
}

const unspaced = /^(?:https?:\/\/|\.{0,2}\/)\S+$/i
const spaced = /^(?!.*\s[./])((?:https?:\/\/[^\s/]+|\.{0,2})\/[^\s/][^\t\r\n?#:]*\.[a-z0-9]+)(?:[?#]\S*)?$/i

/** Where a file is. `None` where its link is relative, and where its document came from is not known. */
export type Address = Option.Option<URL>

/** The address of a text that is known to be a link; `None` where it leads to nothing over http or https. */
export const readAddress = (text: string, base: string | undefined): Option.Option<Address> => {
  const address = resolve(text, base)
  return Option.isSome(address) || (base === undefined && isRelative(text))
    ? Option.some(address)
    : Option.none()
}

/**
 * The address that a text leads to, relative to that of its document. `None` where it is no http or https address; one without
 * a host needs `base`.
 */
const resolve = (text: string, base: string | undefined): Option.Option<URL> =>
  text.length > maxLength
    ? Option.none()
    : Option.filter(
        parseUrl(text, base ?? defaultBase),
        ({ protocol }) =>
          (protocol === "https:" || protocol === "http:") &&
          (base !== undefined || hasHost(text)) &&
          text.trim() !== ""
      )

/** Once: to ask first whether it can be parsed is to parse it twice. */
const parseUrl = Option.liftThrowable((text: string, base: string) => new URL(withoutEntities(text), base))

/** What is escaped as in HTML, as many systems give addresses: "#" would begin a fragment, and what follows is not sent. */
const withoutEntities = (text: string): string =>
  text.includes("&")
    ? text
        .replace(/&amp;/gi, "&")
        .replace(/&#(?:x([\da-f]+)|(\d+));/gi, (_, hex?: string, decimal?: string) =>
          String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
        )
    : text

/** Whether the fragment is what is left of an entity, as in `#038;id=1`: parameters behind it are lost. */
export const hasCutEntity = ({ hash }: URL): boolean => /^#(?:x[\da-f]+;|\d+;|0*38\D)/i.test(hash)

/** Whether it can only be resolved where the document came from: neither a scheme nor a host is in it. */
const isRelative = (text: string): boolean =>
  text.length <= maxLength && text.trim() !== "" && !hasHost(text) && !/^\s*[a-z][a-z0-9+.-]*:/i.test(text)

const hasHost = (text: string): boolean => /^\s*(?:https?:)?\/\//i.test(text)

/** Gives URLs without a scheme, `//host/path`, one. */
const defaultBase = "https://document.invalid"

/**
 * Equal for addresses of the same file: scheme and host in small letters, no default port, no dots, no fragment, no user, and
 * no parameters that are known to sign an address.
 */
export const identityOf = ({ host, pathname, protocol, search }: URL): string =>
  `${protocol}//${withoutDot(host)}${pathname}${search === "" ? "" : lasting(search)}`

/** The parameters that do not sign the address. */
const lasting = (search: string): string => {
  const parameters = search.slice(1).split("&")
  const names = new Set(parameters.map(nameOf))
  const kept = parameters.filter((parameter) => parameter !== "" && !isSignature(nameOf(parameter), names))
  return kept.length === 0 ? "" : `?${kept.join("&")}`
}

/** A value in which links are what they lead to, without what signs them; itself where none is signed. */
export const withoutSignatures = (value: unknown): unknown => {
  if (Predicate.isString(value)) {
    return /^https?:\/\/[^\s?]+\?/i.test(value) && value.length <= maxLength
      ? Option.match(parseUrl(value, defaultBase), { onNone: () => value, onSome: identityOf })
      : value
  }
  return mapParts(value, withoutSignatures)
}

/** As 16 hexadecimal digits. */
export const keyOf = (identity: string): string => hashOfName(identity, 16)

const nameOf = (parameter: string): string =>
  Option.getOrElse(decode(parameter.split("=", 1)[0] ?? ""), () => parameter).toLowerCase()

const decode = Option.liftThrowable(decodeURIComponent)

/**
 * S3 and Google Cloud Storage, each also in its older form, CloudFront and Azure. A name counts only where all that belong to such a
 * signature are there: a `token` alone may as well say which file it is.
 */
const signatures: ReadonlyArray<{ readonly with: ReadonlyArray<string>; readonly names: RegExp }> = [
  { with: ["x-amz-signature"], names: /^x-amz-/ },
  { with: ["x-goog-signature"], names: /^x-goog-/ },
  {
    with: ["signature", "expires", "awsaccesskeyid"],
    names: /^(?:expires|signature|awsaccesskeyid|x-amz-security-token)$/
  },
  { with: ["signature", "expires", "googleaccessid"], names: /^(?:expires|signature|googleaccessid)$/ },
  { with: ["signature", "key-pair-id"], names: /^(?:expires|signature|key-pair-id|policy)$/ },
  { with: ["sig", "sv"], names: /^(?:sig|se|sp|sv|st|sr|spr|sip|skoid|sktid|skt|ske|sks|skv)$/ }
]

const isSignature = (name: string, all: ReadonlySet<string>): boolean =>
  signatures.some(
    ({ names, with: needed }) => names.test(name) && needed.every((parameter) => all.has(parameter))
  )

/** Whether it leads to one of the hosts, in upper or lower case, with or without the dot at its end: a name alone stands for all its ports. */
export const isAtHost = (url: URL, hosts: ReadonlyArray<string>): boolean => {
  const [host, hostname] = [withoutDot(url.host), withoutDot(url.hostname)]
  return hosts.some(
    (wanted) =>
      wanted === host ||
      wanted === hostname ||
      Option.exists(parseUrl(`${url.protocol}//${wanted}`, defaultBase), (parsed) =>
        /:\d+$/.test(wanted)
          ? withoutDot(parsed.host) === host
          : parsed.port === "" && withoutDot(parsed.hostname) === hostname
      )
  )
}

/** `museum.example.` is the same host as `museum.example`. */
const withoutDot = (host: string): string => host.replace(/\.(?=$|:\d+$)/, "")

/** What the name in an address says that its file is; `None` where it has no extension that is known. */
export const typeOfUrl = ({ pathname }: URL): Option.Option<string> =>
  Option.fromNullable(mime.getType(pathname))
