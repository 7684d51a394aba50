/** How many consumers are known at a time: those that hold a lease, that are expected, or that have a stream of their own. */
export const maxConsumers = 256
