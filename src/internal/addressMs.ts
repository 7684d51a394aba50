/**
 * Milliseconds for a connection to each address of a name, except to the last one. With the 250 ms of Node, no connection over a
 * satellite would ever be made if the name has two addresses.
 */
export const addressMs = 2500
