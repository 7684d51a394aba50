/**
 * Milliseconds for a connection to each address of a name, except to the last one: a quarter of the ten seconds that undici gives to
 * a connection. With the 250 ms of Node, no connection over a satellite would ever be made if the name has two addresses.
 */
export const addressMs = 2500
