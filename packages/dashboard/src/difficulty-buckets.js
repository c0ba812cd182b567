/** Groups the points of a task’s history by difficulty. Needs no browser. */

const BUCKETS = 12

/**
 * Mean score by difficulty of the first and of the second half of `points`: two lists of { difficulty, score, groups }, easiest first. The
 * history has the difficulty after a group; a group’s own is that of its item or else the one after the group before it.
 */
export function bucketByDifficulty(points) {
  const groups = points.flatMap(({ score, item }, k) => {
    const difficulty = item?.difficulty ?? points[k - 1]?.difficulty
    return difficulty === undefined ? [] : [{ score, difficulty }]
  })
  const half = Math.floor(groups.length / 2)
  return [groups.slice(0, half), groups.slice(half)].map((part) =>
    [...Map.groupBy(part, ({ difficulty }) => Math.round(difficulty * BUCKETS))]
      .map(([, members]) => ({
        difficulty: mean(members.map((member) => member.difficulty)),
        score: mean(members.map((member) => member.score)),
        groups: members.length,
      }))
      .toSorted((a, b) => a.difficulty - b.difficulty),
  )
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
