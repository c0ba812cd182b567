/** Lengths counted in buckets that grow by 5 %, so that a percentile of any number of them is known within 5 %. */
const LOG_BUCKET_GROWTH = Math.log(1.05)
/** Of the stored fields. */
export const LENGTH_BUCKET_PREFIX = 'length_bucket:'

/** The field in which a length is counted. */
export function formatLengthBucketField(length: number): string {
  return `${LENGTH_BUCKET_PREFIX}${length <= 0 ? 0 : Math.ceil(Math.log(length) / LOG_BUCKET_GROWTH) + 1}`
}

/** What a share of the counted lengths do not exceed, as the upper edge of its bucket; null if none was counted. */
export function lengthPercentile(sums: Record<string, number>, share: number): number | null {
  const buckets = Object.entries(sums)
    .filter(([field]) => field.startsWith(LENGTH_BUCKET_PREFIX))
    .map(([field, count]) => [Number(field.slice(LENGTH_BUCKET_PREFIX.length)), count] as const)
    .toSorted(([a], [b]) => a - b)
  let left = buckets.reduce((sum, [, count]) => sum + count, 0) * share
  for (const [bucket, count] of buckets) {
    left -= count
    if (left <= 1e-9) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * LOG_BUCKET_GROWTH))
  }
  return null
}
