/**
 * The mounted transport behind your own authentication, which lets CORS preflights pass.
 *
 *     npm run build && npx jiti scratchpad/effect/mounted-behind-password.ts
 */
import { HttpLayerRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import { ControllerServices, HttpTransport } from "vitrine"

/** Runs before all routes. A browser sends `OPTIONS` without the password, to ask whether a page may send the password. */
const authentication = HttpLayerRouter.middleware(
  (handler) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method }) =>
      method === "OPTIONS" || headers.authorization === "Bearer hall-2"
        ? handler
        : HttpServerResponse.empty({ status: 401 })
    ),
  { global: true }
)
const services = ControllerServices.layer("persistent")
const routes = Layer.merge(authentication, Layer.provide(HttpTransport.routes(), services))
const { dispose, handler } = HttpLayerRouter.toWebHandler(routes, { disableLogger: true })

const ask = (init: RequestInit) => handler(new Request("http://museum.example/status", init))
const preflight = await ask({ method: "OPTIONS" })
console.log(preflight.status, preflight.headers.get("access-control-allow-headers"))
console.log((await ask({})).status, (await ask({ headers: { authorization: "Bearer hall-2" } })).status)
await dispose()
