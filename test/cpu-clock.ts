/** Processor time of a test's thread: other programs do not count. */

/** Returns a function that says how many milliseconds this thread has worked since. */
export function startCpuClock(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
