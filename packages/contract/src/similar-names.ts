/** Finds the names that a misspelled one may have meant. */
const MAX_SUGGESTIONS = 3

/** Names that begin with the word, or else those with the fewest typing errors. At most a third of the letters may differ. */
export function findSimilar(word: string, names: Iterable<string>): string[] {
  const wanted = normalize(word)
  if (wanted === '') return []
  const all = [...new Set(names)]
  const longer = all.filter((name) => normalize(name).startsWith(wanted))
  if (wanted.length >= 3 && longer.length > 0 && longer.length <= MAX_SUGGESTIONS) return longer
  const ranked = all
    .map((name) => ({ name, errors: countTypos(wanted, normalize(name)) }))
    .filter(({ name, errors }) => errors <= Math.max(1, Math.floor(Math.max(word.length, name.length) / 3)))
  const least = Math.min(...ranked.map(({ errors }) => errors))
  return ranked
    .filter(({ errors }) => errors === least)
    .map(({ name }) => name)
    .slice(0, MAX_SUGGESTIONS)
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '')
}

/** Optimal string alignment distance: insertions, deletions, substitutions, and swaps of neighbors. */
function countTypos(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, k) => k)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substitution)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    before = previous
    previous = row
  }
  return previous[b.length] ?? 0
}
