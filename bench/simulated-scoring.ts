/** What W9's workers have in hand at once, and how long a group takes them on average: 32 of them stay below what Redis carries. */
export const WORKER_CONCURRENCY = 16
export const MEAN_WAIT_MS = 1000
