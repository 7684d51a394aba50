/** Where the controller's transport is, said by the server this page came from. */

/**
 * The base URL of the transport, such as `http://127.0.0.1:8710`. Asked for anew each time, so that a page
 * that was open before the controller started learns it too.
 */
export const transportUrl = async () => {
  const response = await fetch("/endpoint.json", { cache: "no-store", signal: AbortSignal.timeout(5000) })
  if (!response.ok) {
    throw new Error(`/endpoint.json answered ${response.status}`)
  }
  const { transport } = await response.json()
  return transport.replace(/\/$/, "")
}
