/** Counts lengths in buckets that grow by 5 %, so that a percentile is accurate to 5 % for any number of lengths. */
const LOG_BUCKET_GROWTH = Math.log(1.05)
/** Prefix of the stored fields. */
export const LENGTH_BUCKET_PREFIX = 'length_bucket:'

/** The field that counts a length. */
export function formatLengthBucketField(length: number): string {
  return `${LENGTH_BUCKET_PREFIX}${length <= 0 ? 0 : Math.ceil(Math.log(length) / LOG_BUCKET_GROWTH) + 1}`
}

/** The percentile at `fraction`, as the upper edge of its bucket; null without any lengths. */
export function lengthPercentile(sums: Record<string, number>, fraction: number): number | null {
  const buckets = Object.entries(sums)
    .filter(([field]) => field.startsWith(LENGTH_BUCKET_PREFIX))
    .map(([field, count]) => [Number(field.slice(LENGTH_BUCKET_PREFIX.length)), count] as const)
    .toSorted(([a], [b]) => a - b)
  let remaining = buckets.reduce((sum, [, count]) => sum + count, 0) * fraction
  for (const [bucket, count] of buckets) {
    remaining -= count
    if (remaining <= 1e-9) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * LOG_BUCKET_GROWTH))
  }
  return null
}
