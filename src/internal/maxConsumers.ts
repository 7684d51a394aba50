/** How many consumers are known at a time: those that hold a lease, that are expected, or that have their own stream. */
export const maxConsumers = 256
