/** Groups in flight per simulated worker of W9 and their mean duration. 32 such workers stay below the limit of Redis. */
export const WORKER_CONCURRENCY = 16
export const MEAN_WAIT_MS = 1000
