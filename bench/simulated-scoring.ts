/** Groups in flight per simulated worker of W9 and their mean duration. 32 such workers stay below the limit of Redis. */
export const WORKER_CONCURRENCY = 16
export const MEAN_WAIT_MS = 1000
/** The library scores it, so each group is a job of its own, and the rate does not depend on how many share one. */
export const SIMULATED_TASK = 'simple_integration'
