/** Whether a measured quantity grows: the trend of its floor in the second half of a soak, against an allowance. */

export interface Sample {
  /** Seconds since the soak began. */
  at: number
  value: number
}

export interface Allowance {
  /** In units of the quantity: what it may grow by in any soak, however short. */
  flat: number
  /** And for each hour. */
  hourly: number
}

interface Growth {
  first: number
  last: number
  /** By the trend, from the middle of the soak to its end. */
  grownBy: number
  allowed: number
  fails: boolean
}

const WINDOWS = 12

/**
 * The second half is cut into windows; the least value of each is its floor, since memory is a sawtooth of garbage and
 * collection. The trend is the median of the slopes between all pairs of floors (Theil–Sen), which a few outliers do not move.
 */
export function assessGrowth(samples: readonly Sample[], { flat, hourly }: Allowance): Growth {
  const end = samples.at(-1)?.at ?? 0
  const half = end / 2
  const hours = half / 3600
  const floors = listFloors(samples.filter(({ at }) => at >= half))
  const grownBy = computeSlope(floors) * half
  const allowed = flat + hourly * hours
  return { first: samples[0]?.value ?? 0, last: samples.at(-1)?.value ?? 0, grownBy, allowed, fails: grownBy > allowed }
}

function listFloors(samples: readonly Sample[]): Sample[] {
  const size = Math.max(1, Math.ceil(samples.length / WINDOWS))
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, k) =>
    samples.slice(k * size, (k + 1) * size).reduce((least, sample) => (sample.value < least.value ? sample : least)),
  )
}

/** Units a second. */
function computeSlope(points: readonly Sample[]): number {
  const slopes = points.flatMap((a, k) => points.slice(k + 1).map((b) => (b.value - a.value) / (b.at - a.at)))
  slopes.sort((a, b) => a - b)
  const middle = slopes.length / 2
  return slopes.length === 0 ? 0 : ((slopes[Math.ceil(middle) - 1] ?? 0) + (slopes[Math.floor(middle)] ?? 0)) / 2
}
