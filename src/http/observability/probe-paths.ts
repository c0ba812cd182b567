/** What those ask who keep the server running: from one address with others, and whatever else is going on. */
export const PROBE_PATHS: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz'])
