/** Numbers of a list in the smallest type that gives back every one of them. Where there are nulls, they are NaN. */
export type Numbers = Int32Array | Float32Array | Float64Array

export function areNumbers(value: unknown): value is Numbers {
  return value instanceof Int32Array || value instanceof Float32Array || value instanceof Float64Array
}

/** The first so many in a list of their own: to allocate half as many bytes is worth looking at all of them. */
export function smallest(values: Float64Array, count: number): Numbers {
  const list = areWhole(values, count)
    ? new Int32Array(count)
    : areSingle(values, count)
      ? new Float32Array(count)
      : undefined
  if (!list) return values.slice(0, count)
  for (let k = 0; k < count; k++) list[k] = values[k] ?? 0
  return list
}

function areWhole(values: Float64Array, count: number): boolean {
  for (let k = 0; k < count; k++) {
    const x = values[k] ?? 0
    if ((x | 0) !== x || (x === 0 && 1 / x < 0)) return false // -0 is no int32
  }
  return true
}

function areSingle(values: Float64Array, count: number): boolean {
  for (let k = 0; k < count; k++) {
    const x = values[k] ?? 0
    if (Math.fround(x) !== x && !Number.isNaN(x)) return false
  }
  return true
}
