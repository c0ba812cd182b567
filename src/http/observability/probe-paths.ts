/** Paths of the probes. They are exempt from rate limits, because a rejected probe would restart a healthy server. */
export const PROBE_PATHS: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz'])
