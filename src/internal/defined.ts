/**
 * Fields that are left out where there is nothing to say.
 */

/** The same without the fields that are `undefined`, which exact optional fields of a type and of a schema may not be. */
export function defined<A extends object>(fields: A): { readonly [K in keyof A]?: Exclude<A[K], undefined> }
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
