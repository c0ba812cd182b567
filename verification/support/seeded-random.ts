/** Chance that a seed repeats: who is killed and what is posted. When things happen is up to the machine. */

export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, 1). The generator is known as mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  integerBelow(count: number): number {
    return Math.floor(this.next() * count)
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  chance(chance: number): boolean {
    return this.next() < chance
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.integerBelow(values.length)]
    if (value === undefined) throw new RangeError('nothing to choose from')
    return value
  }
}
