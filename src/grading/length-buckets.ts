/** Counts lengths in buckets that grow by 5%, so that a percentile is accurate to 5% for any number of lengths. */
import { formatSumField, listSums } from './group-sums.ts'

const LOG_BUCKET_GROWTH = Math.log(1.05)

/** The field that counts a length. */
export function formatLengthBucketField(length: number): string {
  return formatSumField('length_buckets', length <= 0 ? 0 : Math.ceil(Math.log(length) / LOG_BUCKET_GROWTH) + 1)
}

/** The percentile at `fraction`, as the upper edge of its bucket; null without any lengths. */
export function lengthPercentile(sums: Record<string, number>, fraction: number): number | null {
  const buckets = listSums('length_buckets', sums)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .toSorted(([a], [b]) => a - b)
  let remaining = buckets.reduce((sum, [, count]) => sum + count, 0) * fraction
  for (const [bucket, count] of buckets) {
    remaining -= count
    if (remaining <= 1e-9) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * LOG_BUCKET_GROWTH))
  }
  return null
}
