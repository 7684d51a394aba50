/**
 * Links in text: which links lead to the same file, and the rules for links that lead to wanted files.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import mime from "mime"
import { hashOfName } from "../../../files/sha256.ts"
import { mapParts } from "../jsonValues.ts"
import { bare, blank } from "../names.ts"
import type { MediaOptions } from "./MediaOptions.ts"
import { type DocumentPath, matches, type PathPattern, parse } from "./PathPattern.ts"

/** In characters: a longer text is no link. */
const maxLength = 8192

/**
 * Whether a text looks like a link, if nothing else says so: it has a scheme and a host, or begins at the root or
 * with a dot. A text with spaces is a link only if its path ends in the extension of a known type: otherwise it is a
 * sentence.
 */
export const looksLikeLink = (text: string): boolean => {
  if (text.length > maxLength) return false
  const link = bare(text)
  const [, spacedPath = ""] = spaced.exec(link) ?? []
  return unspaced.test(link) || mime.getType(spacedPath) !== null
}

const unspaced = /^(?:https?:\/\/|\.{0,2}\/)\S+$/i
const spaced = /^(?!.*\s[./])((?:https?:\/\/[^\s/]+|\.{0,2})\/[^\s/][^\t\r\n?#:]*\.[a-z0-9]+)(?:[?#]\S*)?$/i

const ofPrograms = "(?:file:[\\\\/]|blob:|cid:\\S+@|(?:webkit-fake-url|applewebdata)://|[a-z]:\\\\)"
const ofMachines = "(?:content|smb|cifs|afp|nfs)://|[a-z]:/\\w|\\\\\\\\[^\\\\/\\s]+\\\\"
const elsewhere = new RegExp(`^[${blank}]*(?:${ofPrograms}|${ofMachines})`, "i")
const elsewhereInText = new RegExp(`["'(<=]${ofPrograms}`, "i")
const elsewhereAtHome =
  /^(?:\/(?:Users|Volumes)\/[^/]+\/|\/\/[\w-]+\/[^\s/]|(?:\/home\/[^/]+|~)\/(?:Desktop|Documents|Downloads|Pictures|Schreibtisch|Dokumente|Bilder)\/)/

/**
 * Looks only around the marks that are no part of a sentence: a regular expression for whole texts would be slow.
 */
const isAround = (text: string, mark: string, pattern: RegExp, before: number, after: number): boolean => {
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (text.charCodeAt(at + 1) <= space) continue
    if (pattern.test(text.slice(Math.max(0, at - before), at + after))) return true
  }
  return false
}
const space = 32

/** Whether a text leads to somebody's computer, or to a share of files. Most texts need no regular expression. */
export const isElsewhere = (text: string): boolean =>
  text.includes(":") || text.includes("\\")
    ? elsewhere.test(text) || isAround(text, ":", elsewhereInText, 20, 100)
    : (text.startsWith("/") || text.startsWith("~")) && elsewhereAtHome.test(text)

/** Whether a text names a file on the machine of its author, as content systems do before they have an address. */
export const isLocalFile = (text: string): boolean => isAround(text, "//localhost", localFile, 7, 500)

const localFile =
  /(?:^|["'(<=\s])https?:\/\/localhost(?::\d+)?\/\S+\.(?:jpe?g|png|gif|webp|avif|svg|mp4|webm|mp3|pdf)\b/i

/** The address of a file; `unknown` if its link is relative, and the address of its document is not known. */
export type Address = URL | "unknown"

/** The address in a text that must be a link; `undefined` if it does not lead anywhere over http or https. */
export const readAddress = (text: string, base: string | undefined): Address | undefined => {
  const link = text.length > maxLength ? "" : bare(text)
  if (link === "" || (isElsewhere(link) && !isOnServer(link, base))) return undefined
  if (base === undefined && !hasHost(link)) return hasScheme(link) ? undefined : "unknown"
  const url = parseUrl(link, base ?? defaultBase)
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined
}

/** In a document of a server, a path as on a Mac is a path of the server. */
const isOnServer = (link: string, base = ""): boolean => elsewhereAtHome.test(link) && /^https?:/i.test(base)

/** Parses once: a check before would parse twice. */
const parseUrl = (text: string, base: string): URL | undefined => {
  try {
    return new URL(withoutEntities(text), base)
  } catch {
    return undefined
  }
}

/**
 * Replaces entities, because many systems escape addresses as in HTML: "#" would begin a fragment, and the rest would
 * not be sent.
 */
const withoutEntities = (text: string): string =>
  text.includes("&")
    ? text
        .replace(/&amp;/gi, "&")
        .replace(/&#(?:x([\da-f]+)|(\d+));/gi, (_, hex?: string, decimal?: string) =>
          String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
        )
    : text

/** Whether the fragment is the rest of an entity, as in `#038;id=1`: the parameters behind it are lost. */
export const hasCutEntity = ({ hash }: URL): boolean => /^#(?:x[\da-f]+;|\d+;|0*38\D)/i.test(hash)

const hasScheme = (text: string): boolean => /^\s*[a-z][a-z0-9+.-]*:/i.test(text)

const hasHost = (text: string): boolean => /^\s*(?:https?:)?\/\//i.test(text)

/** Completes URLs without a scheme, `//host/path`. */
const defaultBase = "https://document.invalid"

/**
 * Equal for addresses of the same file: scheme and host in small letters, no default port, no dots, no fragment, no
 * user, and no parameters that are known to sign an address.
 */
export const identityOf = ({ host, pathname, protocol, search }: URL): string =>
  `${protocol}//${withoutDot(host)}${pathname}${search === "" ? "" : unsigned(search)}`

/** The parameters that do not sign the address. */
const unsigned = (search: string): string => {
  const parameters = search.slice(1).split("&")
  const isSigning = signing(search)
  const kept = parameters.filter((parameter) => parameter !== "" && !isSigning(parameter))
  return kept.length === 0 ? "" : `?${kept.join("&")}`
}

/** Whether one of the parameters signs the address. */
const isSigned = ({ search }: URL): boolean => search.slice(1).split("&").some(signing(search))

/**
 * The value with each signed link reduced to its identity and its fragment; the value itself if there is no signed
 * link. Text in which a link is only a part is never changed.
 */
export const withoutSignatures = (value: unknown): unknown => {
  return Predicate.isString(value) ? (signedIdentity(value) ?? value) : mapParts(value, withoutSignatures)
}

/** Each signature has such a parameter, perhaps escaped. */
const maySign = (text: string): boolean =>
  /^https?:\/\/[^\s?]+\?\S+$/i.test(text) && /sig|token|oe=|hm=|%/i.test(text.slice(text.indexOf("?")))

/** The identity and the fragment of a signed link, which expires; `undefined` for any other text. */
export const signedIdentity = (text: string): string | undefined => {
  if (!text.includes("?") || text.length > maxLength || !maySign(text)) return undefined
  const url = parseUrl(text, defaultBase)
  return url !== undefined && isSigned(url) ? `${identityOf(url)}${url.hash}` : undefined
}

/** A link that expires, without its signature, anywhere in a text of Airtable or Supabase; `undefined` for any other text. */
export const expiringLink = (text: string): string | undefined =>
  text.includes(".airtableusercontent.com/") || text.includes("/object/sign/")
    ? signedPath.exec(text)?.[0]
    : text.includes("?")
      ? signedIdentity(bare(text))?.replace(/\?.*/s, "")
      : undefined

const signedPath =
  /https:\/\/[\w.-]+(?:\.airtableusercontent\.com(?=\/)|\/storage\/v1\/object\/sign\/[^?\s"]+)/

/** As 16 hexadecimal digits. */
export const keyOf = (identity: string): string => hashOfName(identity, 16)

const nameOf = (parameter: string): string =>
  Option.getOrElse(decode(parameter.split("=", 1)[0] ?? ""), () => parameter).toLowerCase()

/** The text of an escaped part of an address. */
export const decode = Option.liftThrowable(decodeURIComponent)

/**
 * S3 and Google Cloud Storage, each also in its older form, CloudFront, Azure, Bunny, Instagram and Discord. A name
 * counts only if all parameters of such a signature are present: a `token` alone may also identify the file.
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
  { with: ["sig", "sv"], names: /^(?:sig|se|sp|sv|st|sr|spr|sip|skoid|sktid|skt|ske|sks|skv)$/ },
  { with: ["token", "expires"], names: /^(?:token|expires|token_path)$/ },
  { with: ["oh", "oe"], names: /^(?:oh|oe|_nc_(?:ohc|gid|oc|sid|zt))$/ },
  { with: ["ex", "is", "hm"], names: /^(?:ex|is|hm)$/ }
]

/** Returns the function that tells whether a parameter belongs to a signature of the address. */
const signing = (search: string): ((parameter: string) => boolean) => {
  const all = new Set(search.slice(1).split("&").map(nameOf))
  const present = signatures.filter(({ with: needed }) => needed.every((name) => all.has(name)))
  return (parameter) => present.some(({ names }) => names.test(nameOf(parameter)))
}

/**
 * Whether it leads to one of the hosts, in upper or lower case, with or without the final dot. A host without a port
 * matches all ports.
 */
export const isAtHost = (url: URL, hosts: ReadonlyArray<string>): boolean => {
  const [host, hostname] = [withoutDot(url.host), withoutDot(url.hostname)]
  return hosts.some((wanted) => {
    if (wanted === host || wanted === hostname) return true
    const parsed = parseUrl(`${url.protocol}//${wanted}`, defaultBase)
    if (parsed === undefined) return false
    return /:\d+$/.test(wanted)
      ? withoutDot(parsed.host) === host
      : parsed.port === "" && withoutDot(parsed.hostname) === hostname
  })
}

/** `museum.example.` is the same host as `museum.example`. */
const withoutDot = (host: string): string => host.replace(/\.(?=$|:\d+$)/, "")

/** The type by the extension of an address; `undefined` if the extension is missing or unknown. */
export const typeOfUrl = ({ pathname }: URL): string | undefined => mime.getType(pathname) ?? undefined

/** Places in a document: all, none, or the places that match a pattern. */
type Places = boolean | ReadonlyArray<PathPattern>

/** The rules for wanted links. A link must match all given rules. */
export interface Rules {
  readonly hosts: MediaOptions["hosts"] | undefined
  readonly types: MediaOptions["types"] | undefined
  readonly find: ReadonlyArray<PathPattern> | undefined
  readonly replace: Places
  readonly optional: Places
}

export const rulesOf = ({ find, hosts, optional, replace, types }: Partial<MediaOptions>): Rules => ({
  hosts,
  types,
  find: find === undefined ? undefined : parsed(find),
  replace: placesOf(replace),
  optional: placesOf(optional)
})

const placesOf = (places: true | ReadonlyArray<string> | undefined): Places =>
  places === undefined || places === true ? places === true : parsed(places)

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<PathPattern> =>
  texts.flatMap((text) => Option.toArray(parse(text)))

/** Reads a string at a path as a link; `undefined` if it is no link, or not wanted. */
type ReadLink = (text: string, path: DocumentPath) => Address | undefined

/**
 * `base` is the address of the document; `elsewhere` is called with the path of a link to a picture, film or sound that
 * `find` does not match.
 */
export const makeReadLink = (
  { find, hosts, types }: Rules,
  base: string | undefined,
  elsewhere: (path: DocumentPath) => void
): ReadLink => {
  const isWanted = (url: URL): boolean =>
    (hosts === undefined || isAtHost(url, hosts)) &&
    (find !== undefined || types === undefined || isOfType(typeOfUrl(url) ?? "", types))

  return (text, path) => {
    const isMeant =
      find === undefined ? (hosts ?? types) !== undefined && looksLikeLink(text) : isAnyOf(find, path)
    if (!isMeant) {
      if (find !== undefined && looksLikeLink(text) && isMediaFile(text)) elsewhere(path)
      return undefined
    }
    const address = readAddress(text, base)
    const isRead = address === "unknown" ? find !== undefined : address !== undefined && isWanted(address)
    return isRead ? address : undefined
  }
}

const isMediaFile = (link: string): boolean =>
  isOfType(mime.getType(link.replace(/[?#].*$/s, "")) ?? "", ["image/*", "video/*", "audio/*"])

/** Whether a type is in the list. An entry may end in `/*`. */
export const isOfType = (type: string, types: ReadonlyArray<string>): boolean =>
  types.some((wanted) => wanted === type || (wanted.endsWith("/*") && type.startsWith(wanted.slice(0, -1))))

export const isNamed = (places: Places, path: DocumentPath): boolean =>
  typeof places === "boolean" ? places : isAnyOf(places, path)

const isAnyOf = (patterns: ReadonlyArray<PathPattern>, path: DocumentPath): boolean =>
  patterns.some((pattern) => matches(pattern, path))
