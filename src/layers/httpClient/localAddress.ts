/**
 * The addresses of this machine and of its link, and how to keep requests away from them.
 *
 * Links that come from elsewhere must not lead to services that trust everybody who can reach them: those on this machine,
 * and the metadata services of hosted machines. Addresses of private networks (10/8, 172.16/12, 192.168/16, fc00::/7)
 * are allowed: files on a server in the house are ordinary.
 */
import * as dns from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"
import * as Undici from "@effect/platform-node/Undici"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Whether requests may connect to local addresses. Only the client of this package observes it. Default true. */
export class LocalAddressesAllowed extends Context.Reference<LocalAddressesAllowed>()(
  "vitrine/LocalAddressesAllowed",
  { defaultValue: () => true }
) {}

/** Fails a request that would have connected to a local address; nothing was sent. */
export class LocalAddressRefused extends Data.TaggedError("vitrine/LocalAddressRefused")<{
  readonly address: string
}> {
  override get message() {
    return `${this.address} is an address of this machine or of its local link`
  }
}

const localAddresses = new BlockList()
// Unspecified addresses reach this machine as well.
localAddresses.addSubnet("0.0.0.0", 8, "ipv4")
localAddresses.addSubnet("127.0.0.0", 8, "ipv4")
localAddresses.addSubnet("169.254.0.0", 16, "ipv4")
localAddresses.addAddress("::", "ipv6")
localAddresses.addAddress("::1", "ipv6")
localAddresses.addSubnet("fe80::", 10, "ipv6")

/** Whether it is a loopback, link-local or unspecified address, IPv4 in IPv6 included. False for names. */
export const isLocalAddress = (address: string): boolean => {
  const [withoutZone = ""] = address.split("%")
  return localAddresses.check(withoutZone, isIP(withoutZone) === 6 ? "ipv6" : "ipv4")
}

/** Whether a URL leads to a local address, by name or by number. False where its name cannot be resolved. */
export const leadsToLocalAddress = (url: string): Effect.Effect<boolean> =>
  Effect.tryPromise(() => dns.promises.lookup(unbracketed(new URL(url).hostname), { all: true })).pipe(
    Effect.map((found) => found.some(({ address }) => isLocalAddress(address))),
    Effect.orElseSucceed(() => false)
  )

/**
 * Connects to everything but local addresses. The address that is checked is the one that is connected to, so a name
 * that resolves differently a moment later changes nothing.
 */
export const connectElsewhere: Undici.buildConnector.connector = (options, callback) => {
  if (isLocalAddress(options.hostname)) {
    callback(new LocalAddressRefused({ address: options.hostname }), null)
  } else {
    connect(options, callback)
  }
}

const lookupElsewhere: LookupFunction = (hostname, options, callback) =>
  dns.lookup(hostname, { ...options, all: true }, (error, found) => {
    const [first] = found ?? []
    const local = found?.find(({ address }) => isLocalAddress(address))
    if (error !== null || first === undefined) {
      callback(error, "")
    } else if (local !== undefined) {
      callback(new LocalAddressRefused(local), "")
    } else if (options.all === true) {
      callback(null, found)
    } else {
      callback(null, first.address, first.family)
    }
  })

const connect = Undici.buildConnector({ lookup: lookupElsewhere })

const unbracketed = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1")
