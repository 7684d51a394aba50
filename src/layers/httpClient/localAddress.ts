/**
 * The addresses of this machine and of its link, and how requests are kept away from them.
 *
 * Links and redirects that come from elsewhere must not lead to services that trust everybody who can reach them: those on this
 * machine, and the metadata services of hosted machines. Addresses of private networks (10/8, 172.16/12, 192.168/16, fc00::/7)
 * are allowed: files on a server in the house are ordinary.
 */
import * as dns from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"
import * as Undici from "@effect/platform-node/Undici"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

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

/** Where IPv4 addresses are in those of IPv6, beside the mapped ones, which `BlockList` knows: compatible, NAT64, and 6to4. */
const embedded = (address: string, bits: number) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number)
  const digits = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  return [
    [`::${digits}`, 96 + bits],
    [`64:ff9b::${digits}`, 96 + bits],
    [`64:ff9b:1::${digits}`, 96 + bits],
    [`2002:${digits}::`, 16 + bits]
  ] as const
}

const listOf = (
  v4: ReadonlyArray<readonly [string, number]>,
  v6: ReadonlyArray<readonly [string, number]>
) => {
  const list = new BlockList()
  for (const [address, bits] of v4) list.addSubnet(address, bits, "ipv4")
  for (const [address, bits] of [...v6, ...v4.flatMap((net) => embedded(...net))]) {
    list.addSubnet(address, bits, "ipv6")
  }
  return list
}

const loopback = listOf([["127.0.0.0", 8]], [["::1", 128]])

/** Unspecified addresses reach this machine as well. */
const local = listOf(
  [
    ["0.0.0.0", 8],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16]
  ],
  [
    ["::", 127],
    ["fe80::", 10]
  ]
)

/** Metadata services of Amazon, Google, Microsoft, Oracle, Alibaba, Tencent, Scaleway and OpenStack; of containers, too. */
const metadata = listOf(
  [
    ["169.254.169.254", 32],
    ["169.254.170.2", 32],
    ["169.254.170.23", 32],
    ["169.254.0.23", 32],
    ["169.254.42.42", 32],
    ["100.100.100.200", 32],
    ["168.63.129.16", 32],
    ["192.0.0.192", 32]
  ],
  [
    ["fd00:ec2::254", 128],
    ["fd00:ec2::23", 128],
    ["fd00:42::42", 128],
    ["fd20:ce::254", 128],
    ["fe80::a9fe:a9fe", 128]
  ]
)

/** Names of them that a proxy would resolve. */
const metadataNames: ReadonlySet<string> = new Set([
  "instance-data",
  "instance-data.ec2.internal",
  "metadata",
  "metadata.google.internal",
  "metadata.tencentyun.com"
])

const isIn = (list: BlockList, address: string): boolean => {
  const [withoutZone = ""] = address.split("%")
  return list.check(withoutZone, isIP(withoutZone) === 6 ? "ipv6" : "ipv4")
}

/** As names and addresses are written in a URL, in a form that can be compared. */
const plainName = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")

const isLoopbackName = (name: string): boolean => /(?:^|\.)localhost$/.test(name) || isIn(loopback, name)

/** Whether it is one of the hosts; the names and addresses of loopback are one host. */
export const isNamed = (hostname: string, hosts: ReadonlySet<string>): boolean =>
  hosts.has(hostname) ||
  (isLoopbackName(plainName(hostname)) && [...hosts].some((host) => isLoopbackName(plainName(host))))

const refusal = (address: string, hostname: string, isNamed: boolean): LocalAddressRefused | undefined => {
  const isMetadata = isIn(metadata, address) || metadataNames.has(address)
  return isMetadata || (!isNamed && (isIn(local, address) || isLoopbackName(address)))
    ? new LocalAddressRefused({ address, hostname, isMetadata })
    : undefined
}

/** What is wrong with the host of a URL, before it is looked up: all that can be said where a proxy looks it up. */
export const refusedHost = (hostname: string, isNamed: boolean): LocalAddressRefused | undefined =>
  refusal(plainName(hostname), plainName(hostname), isNamed)

/**
 * Connects to everything but local addresses, or to those too, but for metadata services. The address that is checked is the one that
 * is connected to, so a name that resolves differently a moment later changes nothing.
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
