/**
 * The addresses of this machine and of its link, and how requests are kept away from them.
 *
 * Links and redirects that come from elsewhere must not lead to services that trust everybody who can reach them: those on this
 * machine, and the metadata services of hosted machines. Addresses of private networks (10/8, 172.16/12, 192.168/16, fc00::/7)
 * are allowed: files on a server in the house are ordinary.
 */
import * as dns from "node:dns"
import type { LookupFunction } from "node:net"
import * as Undici from "@effect/platform-node/Undici"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import ipaddr from "ipaddr.js"

/**
 * The hosts that the configuration names, as in the `hostname` of a URL: requests to them may reach local addresses, on any port.
 * Default none. Only the client of this package observes it.
 */
export class NamedHosts extends Context.Reference<NamedHosts>()("vitrine/NamedHosts", {
  defaultValue: (): ReadonlySet<string> => new Set()
}) {}

/** Runs requests for which the configuration names the hosts of these URLs. */
export const naming = (...urls: ReadonlyArray<string>) =>
  Effect.provideService(
    NamedHosts,
    new Set(urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname))
  )

/** Fails a request that would have connected to such an address; nothing was sent. */
export class LocalAddressRefused extends Schema.TaggedError<LocalAddressRefused>()(
  "vitrine/LocalAddressRefused",
  {
    address: Schema.String,
    /** What was asked for. */
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
 * An address, or the IPv4 address inside of an IPv6 address: mapped (`::ffff:`), compatible (`::`), NAT64 and 6to4. `undefined` for a
 * name.
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

/** Metadata services of Amazon, Google, Microsoft, Oracle, Alibaba, Tencent, Scaleway and OpenStack; of containers, too. */
const metadata: ReadonlySet<string> = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "169.254.0.23",
  "169.254.42.42",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd00:42::42",
  "fd20:ce::254",
  "fe80::a9fe:a9fe"
])

/** Names of them that a proxy would resolve. */
const metadataNames: ReadonlySet<string> = new Set([
  "instance-data",
  "instance-data.ec2.internal",
  "metadata",
  "metadata.google.internal",
  "metadata.tencentyun.com"
])

/** As names and addresses are written in a URL, in a form that can be compared. */
const plainName = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")

const isLoopbackName = (name: string): boolean =>
  /(?:^|\.)localhost$/.test(name) || addressOf(name)?.range() === "loopback"

/** Whether it is one of the hosts; the names and addresses of loopback are one host. */
export const isNamed = (hostname: string, hosts: ReadonlySet<string>): boolean =>
  hosts.has(hostname) ||
  (isLoopbackName(plainName(hostname)) && [...hosts].some((host) => isLoopbackName(plainName(host))))

const refusal = (address: string, hostname: string, isNamed: boolean): LocalAddressRefused | undefined => {
  const found = addressOf(address)
  const isMetadata = metadata.has(found?.toString() ?? "") || metadataNames.has(address)
  const isLocal = localRanges.has(found?.range() ?? "") || isLoopbackName(address)
  return isMetadata || (!isNamed && isLocal)
    ? new LocalAddressRefused({ address, hostname, isMetadata })
    : undefined
}

/** What is wrong with the host of a URL, before it is looked up: all that can be said where a proxy looks it up. */
export const refusedHost = (hostname: string, isNamed: boolean): LocalAddressRefused | undefined =>
  refusal(plainName(hostname), plainName(hostname), isNamed)

/**
 * Connects to everything except local addresses, or to local addresses too, except those of metadata services. The address that is
 * checked is also the one of the connection, so a name that resolves differently a moment later changes nothing.
 */
export const connector = (isNamed: boolean): Undici.buildConnector.connector => {
  const lookup: LookupFunction = (hostname, options, callback) =>
    dns.lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      const refused = found?.flatMap(({ address }) => refusal(address, hostname, isNamed) ?? [])[0]
      if (error !== null || first === undefined) {
        callback(error, "")
      } else if (refused !== undefined) {
        callback(refused, "")
      } else if (options.all === true) {
        callback(null, found)
      } else {
        callback(null, first.address, first.family)
      }
    })
  return Undici.buildConnector({ lookup })
}
