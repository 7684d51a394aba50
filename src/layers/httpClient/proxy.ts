/**
 * Connections through the proxy that the environment names: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in
 * small letters, which come first. `HTTP_PROXY` is for https as well where there is no `HTTPS_PROXY`.
 *
 * Requests to https go through a tunnel (CONNECT), those to http are forwarded. Loopback never goes through a proxy.
 */
import * as Undici from "@effect/platform-node/Undici"
import * as Data from "effect/Data"

/** The environment names no proxy that can be used. */
export class ProxyFailed extends Data.TaggedError("vitrine/ProxyFailed")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

/** The most that the headers of a response may have. */
export const maxHeaderBytes = 64 * 1024

/** `connect` is how to connect where there is no proxy. Fails with `ProxyFailed` where the environment is wrong. */
export const makeAgent = (connect: Undici.buildConnector.connector): Undici.Dispatcher => {
  const httpProxy = proxyOf("http_proxy", "HTTP_PROXY")
  const httpsProxy = proxyOf("https_proxy", "HTTPS_PROXY")
  return new Undici.EnvHttpProxyAgent({
    connect,
    maxHeaderSize: maxHeaderBytes,
    proxyTunnel: false,
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    noProxy: withLoopback(variable("no_proxy", "NO_PROXY") ?? "")
  })
}

const variable = (...names: ReadonlyArray<string>): string | undefined =>
  names.map((name) => process.env[name]).find((value) => value !== undefined)

/** An address without a scheme is one of http, as for curl. */
const proxyOf = (...names: ReadonlyArray<string>): string | undefined => {
  const value = variable(...names)
  if (value === undefined || value === "") return value
  const address = value.includes("://") ? value : `http://${value}`
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return address
  throw new ProxyFailed({
    detail: `the environment variable ${names.join(" or ")} is not the address of an http or https proxy, such as "http://proxy.example:3128"`
  })
}

const withLoopback = (noProxy: string): string =>
  noProxy.trim() === "*" ? "*" : `${noProxy},localhost,127.0.0.1,[::1]`
