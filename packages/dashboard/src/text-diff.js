/** Compares two texts, line by line, and within changed lines character by character. */

/** Product of two lengths above which the parts between equal ends count as changed as a whole. */
const MAX_TABLE_CELLS = 1_000_000

/**
 * The lines of both texts in rows: `[{ expected, answer }]`. Each side is a list of `{ text, same }`, or null where the
 * other text has a line more.
 */
export function diffTexts(expected, answer) {
  const rows = []
  for (const { kind, before, after } of diffSequences(expected.split('\n'), answer.split('\n'))) {
    if (kind === 'same')
      for (const line of before)
        rows.push({ expected: [{ text: line, same: true }], answer: [{ text: line, same: true }] })
    else for (let k = 0; k < Math.max(before.length, after.length); k++) rows.push(diffLine(before[k], after[k]))
  }
  return rows
}

/** Number of characters of both texts that are not in the other. */
export function countChanges(rows) {
  const changed = (parts) => (parts ?? []).reduce((sum, { text, same }) => sum + (same ? 0 : [...text].length), 0)
  return rows.reduce((sum, { expected, answer }) => sum + changed(expected) + changed(answer), 0)
}

function diffLine(expected, answer) {
  if (expected === undefined) return { expected: null, answer: [{ text: answer, same: false }] }
  if (answer === undefined) return { expected: [{ text: expected, same: false }], answer: null }
  /** @type {Record<'expected' | 'answer', { text: string, same: boolean }[]>} */
  const row = { expected: [], answer: [] }
  for (const { kind, before, after } of diffSequences([...expected], [...answer])) {
    if (before.length > 0) row.expected.push({ text: before.join(''), same: kind === 'same' })
    if (after.length > 0) row.answer.push({ text: after.join(''), same: kind === 'same' })
  }
  return row
}

/** Runs of equal and of changed elements: `[{ kind: 'same' | 'changed', before, after }]`, by the longest common subsequence. */
function diffSequences(before, after) {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const runs = []
  const push = (kind, a, b) => {
    if (a.length === 0 && b.length === 0) return
    const last = runs.at(-1)
    if (last?.kind !== kind) runs.push({ kind, before: [...a], after: [...b] })
    else {
      last.before.push(...a)
      last.after.push(...b)
    }
  }
  push('same', before.slice(0, start), after.slice(0, start))
  diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end), push)
  push('same', before.slice(before.length - end), after.slice(after.length - end))
  return runs
}

function diffMiddle(a, b, push) {
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_TABLE_CELLS) {
    push('changed', a, b)
    return
  }
  // lengths[i][j]: length of the longest common subsequence of a[i…] and b[j…]
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1])
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) push('same', [a[i++]], [b[j++]])
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) push('changed', [a[i++]], [])
    else push('changed', [], [b[j++]])
  }
  push('changed', a.slice(i), b.slice(j))
}
