/**
 * The addresses of this machine and its local link, and the refusal of requests to them.
 *
 * Links and redirects from other systems must not lead to services that trust every client: services on this machine,
 * and the metadata services of hosted machines. Addresses of private networks (10/8, 172.16/12, 192.168/16, fc00::/7)
 * are allowed, because files on a server in the building are common.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import ipaddr from "ipaddr.js"

/**
 * The hosts in the configuration, as in the `hostname` of a URL: requests to them may reach local addresses, on any
 * port. Default none. Only the client of this package observes it.
 *
 * @since 0.1.0
 * @category tags
 */
export class NamedHosts extends Context.Reference<NamedHosts>()("vitrine/NamedHosts", {
  defaultValue: (): ReadonlySet<string> => new Set()
}) {}

/**
 * Runs requests with the hosts of these URLs as `NamedHosts`.
 *
 * @since 0.1.0
 * @category utils
 */
export const naming = (...urls: ReadonlyArray<string>) =>
  Effect.provideService(
    NamedHosts,
    new Set(urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname))
  )

/** A request was about to connect to such an address; nothing was sent. */
export class LocalAddressRefused extends Schema.TaggedError<LocalAddressRefused>()(
  "vitrine/LocalAddressRefused",
  {
    address: Schema.String,
    /** The host in the request. */
    hostname: Schema.String,
    isMetadata: Schema.Boolean
  }
) {
  override get message() {
    return this.isMetadata
      ? `${this.address} is an address of a cloud's metadata service, which is never asked`
      : `${this.address} is an address of this machine or of its local link`
  }
}

/**
 * The address, or the IPv4 address inside an IPv6 address: mapped (`::ffff:`), compatible (`::`), NAT64 and 6to4.
 * `undefined` for a name.
 */
const addressOf = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  const [withoutZone = ""] = text.split("%")
  if (!ipaddr.isValid(withoutZone)) return undefined
  const address = ipaddr.parse(withoutZone)
  if (address.kind() === "ipv4") return address
  const bytes = address.toByteArray()
  const isCompatible = address.range() === "unicast" && bytes.slice(0, 12).every((byte) => byte === 0)
  switch (address.range()) {
    case "ipv4Mapped":
    case "rfc6052":
      return ipaddr.fromByteArray(bytes.slice(12))
    case "6to4":
      return ipaddr.fromByteArray(bytes.slice(2, 6))
    default:
      return isCompatible ? ipaddr.fromByteArray(bytes.slice(12)) : address
  }
}

/** Unspecified addresses reach this machine as well. */
const localRanges: ReadonlySet<string> = new Set(["loopback", "linkLocal", "unspecified"])

/**
 * Metadata services of Amazon, Google, Microsoft, Oracle, Alibaba, Tencent, Scaleway and OpenStack, also of
 * containers.
 */
const metadata: ReadonlySet<string> = new Set(
  (
    "169.254.169.254 169.254.170.2 169.254.170.23 169.254.0.23 169.254.42.42 100.100.100.200 168.63.129.16 192.0.0.192 " +
    "fd00:ec2::254 fd00:ec2::23 fd00:42::42 fd20:ce::254 fe80::a9fe:a9fe"
  ).split(" ")
)

/** Names of these services, which a proxy would resolve. */
const metadataName =
  /^(?:instance-data(?:\.ec2\.internal)?|metadata(?:\.goog|\.google\.internal|\.tencentyun\.com)?)$/

/** The host of a URL, without brackets and final dot, for comparison. */
const plainName = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")

const isLoopbackName = (name: string): boolean =>
  /(?:^|\.)localhost$/.test(name) || addressOf(name)?.range() === "loopback"

/** Whether the host is in the set; all names and addresses of loopback count as one host. */
export const isNamed = (hostname: string, hosts: ReadonlySet<string>): boolean =>
  hosts.has(hostname) ||
  (isLoopbackName(plainName(hostname)) && [...hosts].some((host) => isLoopbackName(plainName(host))))

/** The refusal of an address of this host, or of its name. */
export const refusal = (
  address: string,
  hostname: string,
  isNamed: boolean
): LocalAddressRefused | undefined => {
  const found = addressOf(address)
  const isMetadata = metadata.has(found?.toString() ?? "") || metadataName.test(address)
  const isLocal = localRanges.has(found?.range() ?? "") || isLoopbackName(address)
  return isMetadata || (!isNamed && isLocal)
    ? new LocalAddressRefused({ address, hostname, isMetadata })
    : undefined
}

/**
 * The refusal of a URL's host before its lookup. Behind a proxy this is the only check, because the proxy does the
 * lookup.
 */
export const refusedHost = (hostname: string, isNamed: boolean): LocalAddressRefused | undefined =>
  refusal(plainName(hostname), plainName(hostname), isNamed)
