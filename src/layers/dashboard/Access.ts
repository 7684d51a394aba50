/**
 * Who may read the dashboard, and who may act.
 *
 * A page of a stranger must do neither, in a browser that can reach the dashboard: by a request across origins, or by a name
 * of its own that leads here (DNS rebinding). An action across the network needs a secret as well. Decisions look at the head
 * of a request only.
 */
import { isIP } from "node:net"
import { hostname } from "node:os"
import * as Option from "effect/Option"
import * as Http from "../http/Access.ts"
import { CommandNotAllowed, jsonRequired, originNotAllowed, tokenRequired } from "../http/errors.ts"
import type { DashboardOptions } from "./DashboardOptions.ts"

export type Refusal = Http.Refusal | CommandNotAllowed

/** What the page may do: anything, anything with the token, or only show. */
export type Actions = "open" | "token" | "off"

export interface Access {
  readonly actions: Actions
  /** Why a request that only reads is refused; `None` if it is not. */
  readonly refuseReading: (request: Http.RequestHead) => Option.Option<Refusal>
  /** The same for one that acts. */
  readonly refuseAction: (request: Http.RequestHead) => Option.Option<Refusal>
}

/** The name of the machine is asked for at each request: machines get names after the start, from the network. */
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

/** A link leads here without letting the page that has it read anything. */
const isFollowed = ({ headers }: Http.RequestHead): boolean =>
  headers.origin === undefined && headers["sec-fetch-dest"] === "document"

const foreignPage = (origin: string) =>
  originNotAllowed(
    `only the page of the dashboard itself may read and act, ${JSON.stringify(Http.shown(origin))} may not.`
  )

const actionsAreOff = (host: string) =>
  new CommandNotAllowed({
    message: `Actions are off: the dashboard listens on "${host}", beyond this machine. Set its "token" to allow them.`
  })

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the dashboard.'
)

const wrongToken = tokenRequired('Wrong token: it is not the "token" of the dashboard.')

/** An address is no name that leads elsewhere tomorrow. */
const isAddress = (name: string): boolean => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\./.test(host)
