/** Paths of probes and metrics. They are exempt from limits, because monitoring must work under any load. */
export const PROBE_PATHS: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz'])
