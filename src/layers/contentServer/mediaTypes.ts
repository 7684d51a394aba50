/**
 * What a browser may take a file for.
 */
import mime from "mime"

/** By the extension of its name; text is UTF-8. */
export const mediaTypeOf = (name: string): string => {
  const type = mime.getType(name) ?? "application/octet-stream"
  return /^text\/|javascript$/.test(type) ? `${type}; charset=utf-8` : type
}

/**
 * Of a file that an editor has chosen, whose type no page may take for a script: browsers run nothing else under
 * `nosniff`. Documents with scripts in them, SVG and XML too, are sandboxed beside that.
 */
export const inertMediaTypeOf = (name: string): string => {
  const type = mediaTypeOf(name)
  return /(java|ecma|j|live)script/.test(type) ? "text/plain; charset=utf-8" : type
}
