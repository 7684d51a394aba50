/**
 * Decides who may read the dashboard, and who may act.
 *
 * A foreign page in a browser that can reach the dashboard may do neither: not by a request across origins, and not by a
 * host name that resolves to this machine (DNS rebinding). An action from the network also needs a token. Checks read only
 * the head of a request.
 */
import { isIP } from "node:net"
import { hostname } from "node:os"
import * as Option from "effect/Option"
import { CommandNotAllowed, jsonRequired, originNotAllowed, tokenRequired } from "../http/errors.ts"
import * as Http from "../http/RequestHead.ts"
import type { DashboardOptions } from "./DashboardOptions.ts"

export type Refusal = Http.Refusal | CommandNotAllowed

/** Whether the page may act: always, with the token, or never. */
export type Actions = "open" | "token" | "off"

export interface Access {
  readonly actions: Actions
  /** Why a read request is refused; `None` if it is not. */
  readonly refuseReading: (request: Http.RequestHead) => Option.Option<Refusal>
  /** Why an action is refused; `None` if it is not. */
  readonly refuseAction: (request: Http.RequestHead) => Option.Option<Refusal>
}

/** Reads the name of the machine for each request: the network may set the name after the start. */
export const make = (
  { allowedHosts = [], host, token }: Pick<DashboardOptions, "allowedHosts" | "host" | "token">,
  machineName = hostname
): Access => {
  const actions = token !== undefined ? "token" : isLoopback(host) ? "open" : "off"
  const hasToken = token === undefined ? () => true : Http.tokenCheck(token)

  const refuseName = ({ headers }: Http.RequestHead): Option.Option<Refusal> => {
    if (isAddress(Http.hostName(headers.host ?? ""))) {
      return Option.none()
    }
    const machine = machineName().toLowerCase()
    const names = [...allowedHosts, "localhost", machine, `${machine}.local`, host.toLowerCase()]
    return Http.refuseHost(names, headers.host, "the dashboard")
  }

  const refuseOrigin = (request: Http.RequestHead): Option.Option<Refusal> => {
    const { host, origin } = request.headers
    const isOwn =
      origin === undefined
        ? !Http.isOfForeignPage(request)
        : [`http://${host}`, `https://${host}`].includes(origin.toLowerCase())
    return isOwn ? Option.none() : Option.some(foreignPage(origin ?? ""))
  }

  const refuseActor = (request: Http.RequestHead): Option.Option<Refusal> => {
    if (actions === "off") {
      return Option.some(actionsAreOff(host))
    }
    if (!hasToken(request)) {
      return Option.some(/\S +\S/.test(request.headers.authorization ?? "") ? wrongToken : noToken)
    }
    return Http.isJson(request.headers["content-type"]) ? Option.none() : Option.some(jsonRequired)
  }

  return {
    actions,
    refuseReading: (request) =>
      Option.orElse(refuseName(request), () => (isFollowed(request) ? Option.none() : refuseOrigin(request))),
    refuseAction: (request) =>
      Option.firstSomeOf([refuseName(request), refuseOrigin(request), refuseActor(request)])
  }
}

/** Whether somebody follows a link. The page with the link cannot read the response. */
const isFollowed = ({ headers }: Http.RequestHead): boolean =>
  headers.origin === undefined && headers["sec-fetch-dest"] === "document"

const foreignPage = (origin: string) =>
  originNotAllowed(
    `only the page of the dashboard itself may read and act, ${JSON.stringify(Http.printableHeader(origin))} may not.`
  )

const actionsAreOff = (host: string) =>
  new CommandNotAllowed({
    message: `Actions are off: the dashboard listens on "${host}", beyond this machine. Set its "token" to allow them.`
  })

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the dashboard.'
)

const wrongToken = tokenRequired('Wrong token: it is not the "token" of the dashboard.')

/** IP addresses cannot be rebound. */
const isAddress = (name: string): boolean => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\./.test(host)
