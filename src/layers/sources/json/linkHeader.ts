/**
 * The `Link` header (RFC 8288): `<?page=2>; rel="next last"; title="a, b", </a.css>; rel=preload; nopush`.
 */
import * as Option from "effect/Option"

/** One link: its target in `<>`, and what stands behind it up to a comma that is in no quotes. */
const links = /<([^<>]*)>((?:"(?:\\.|[^"\\])*"|[^",])*)/g

/** One parameter: its name, and its value with or without quotes, where it has one. */
const parameters = /;\s*([^\s=;,"]+)(?:\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;,"]*)))?/g

/** The target of the first link with a relation, as it stands there. */
export const linkOf = (header: string, relation: string): Option.Option<string> => {
  for (const [, target = "", rest = ""] of header.matchAll(links)) {
    if (relationsOf(rest).includes(relation)) return Option.some(target.trim())
  }
  return Option.none()
}

/** Only the first `rel` of a link counts. */
const relationsOf = (text: string): ReadonlyArray<string> => {
  for (const [, name = "", quoted, token = ""] of text.matchAll(parameters)) {
    if (name.toLowerCase() === "rel") return (quoted ?? token).toLowerCase().split(/\s+/)
  }
  return []
}
