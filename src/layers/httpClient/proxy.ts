/**
 * Connections through the proxy that the environment names: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in
 * small letters, which come first. `HTTP_PROXY` is for https as well where there is no `HTTPS_PROXY`.
 *
 * Requests to https go through a tunnel (CONNECT), those to http are forwarded. Loopback never goes through a proxy.
 */
import * as Undici from "@effect/platform-node/Undici"
import * as Data from "effect/Data"

/** The proxy cannot be used. Of its address only the origin is shown: the rest may hold a password. */
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
  const proxies = new Set([httpProxy, httpsProxy].flatMap((proxy) => (proxy ? [new URL(proxy).origin] : [])))
  return new Undici.EnvHttpProxyAgent({
    connect,
    maxHeaderSize: maxHeaderBytes,
    proxyTunnel: false,
    clientFactory: ({ origin }) => new ProxyPool(origin),
    factory: (origin, options) =>
      proxies.has(new URL(origin).origin)
        ? new ProxyPool(new URL(origin).origin)
        : new Undici.Pool(origin, options),
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

/** Connections to the proxy itself. What goes wrong with one names the proxy. */
class ProxyPool extends Undici.Pool {
  readonly #proxy: string

  constructor(proxy: string) {
    super(proxy, {
      maxHeaderSize: maxHeaderBytes,
      connect: (options, callback) =>
        connectToProxy(options, (error, socket) =>
          error === null
            ? callback(null, socket)
            : callback(
                new ProxyFailed({ detail: `the proxy ${proxy} cannot be reached: ${error.message}` }),
                null
              )
        )
    })
    this.#proxy = proxy
  }

  override connect(options: ConnectOptions): Promise<ConnectData>
  override connect(options: ConnectOptions, callback: ConnectCallback): void
  override connect(options: ConnectOptions, callback?: ConnectCallback) {
    return callback === undefined ? this.#tunnel(options) : super.connect(options, callback)
  }

  async #tunnel(options: ConnectOptions): Promise<ConnectData> {
    const data = await super.connect(options)
    if (data.statusCode === 200) return data
    data.socket.on("error", () => {}).destroy()
    throw new ProxyFailed({
      detail: `the proxy ${this.#proxy} refuses the connection with HTTP ${data.statusCode}${advice(data.statusCode)}`
    })
  }
}

const connectToProxy = Undici.buildConnector({})

type ConnectOptions = Omit<Undici.Dispatcher.ConnectOptions, "origin">
type ConnectData = Undici.Dispatcher.ConnectData
type ConnectCallback = (error: Error | null, data: ConnectData) => void

const advice = (status: number): string =>
  status === 407 ? ". Put the user and the password into its address: http://user:password@host:port" : ""
