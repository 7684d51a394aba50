/** Runs work that may pause, without a pause. */
export const atOnce = <A>(work: Generator<void, A>): A => {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}
