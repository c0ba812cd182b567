/** Small faults in the rules that rewards, groups, batches and access depend on. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mutant {
  /** What goes wrong with it. */
  name: string
  /** Occurs once in the sources, with `replace` in its place the fault is there. */
  find: string
  replace: string
  /** Test files, or folders of them, that should notice. */
  tests: string[]
}

const GRADING = ['test/grading']
const ROLLOUTS = ['test/features/rollouts', 'test/routes/rollouts.test.ts', 'test/routes/groups.test.ts']
const BATCHES = ['test/features/batches', 'test/routes/batches.test.ts']
const SEQUENCE = ['test/features/runs/sequence', 'test/routes/items.test.ts']
const RUNS = ['test/features/runs']
const ACCESS = ['test/http/auth', 'test/routes/access.test.ts']

export const MUTANTS: Mutant[] = [
  // reward and verdict
  {
    name: 'a failed variant hides the full score of the other',
    find: 'if (failed && score < 1)',
    replace: 'if (failed)',
    tests: GRADING,
  },
  {
    name: 'scores above 1 are passed on',
    find: 'Math.min(1, Math.max(0, score))',
    replace: 'Math.max(0, score)',
    tests: GRADING,
  },
  {
    name: 'the reward of a penalized rollout is the penalty',
    find: 'verdict.reward = verdict.score - penalty',
    replace: 'verdict.reward = penalty',
    tests: GRADING,
  },
  {
    name: 'the length penalty begins at the limit',
    find: 'const penaltyFree = 0.75 * maxTokenLength',
    replace: 'const penaltyFree = 0.95 * maxTokenLength',
    tests: GRADING,
  },
  {
    name: 'the length penalty applies to groups with a wrong answer',
    find: 'verdict.score >= TRAINING_CORRECT_THRESHOLD && length !== undefined',
    replace: 'verdict.score >= 0 && length !== undefined',
    tests: GRADING,
  },
  {
    name: 'a completion that was cut off votes',
    find: 'rules.mask_too_long_completions && isCutOff(rollout?.finish_reason)',
    replace: 'rules.mask_too_long_completions && !isCutOff(rollout?.finish_reason)',
    tests: GRADING,
  },
  // advantage
  {
    name: 'advantages are not centered',
    find: 'return rewards.map((reward) => reward - center)',
    replace: 'return rewards.map((reward) => reward - center * 0)',
    tests: GRADING,
  },
  {
    name: 'the standard deviation is that of the population',
    find: 'const std = sampleStd(rewards)',
    replace: 'const std = populationStd(rewards)',
    tests: GRADING,
  },
  {
    name: 'leave-one-out divides by n',
    find: '((reward - center) * n) / (n - 1)',
    replace: 'reward - center',
    tests: GRADING,
  },
  {
    name: 'the last voter of a larger group gets an advantage',
    find: 'const isComparable = voters.length > 1 || rollouts.length === 1',
    replace: 'const isComparable = voters.length > 0',
    tests: GRADING,
  },
  {
    name: 'groups of equal scores reach the trainer',
    find: "if (!signal && rules.drop_equal_scores) return 'no_signal'",
    replace: '',
    tests: [...GRADING, ...ROLLOUTS],
  },
  // extraction
  {
    name: 'the first answer tag counts',
    find: 'else if (opening >= 0) [from, to, opening] = [opening, start, -1]',
    replace: 'else if (opening >= 0 && from < 0) [from, to, opening] = [opening, start, -1]',
    tests: GRADING,
  },
  {
    name: 'answers inside reasoning count',
    find: 'return { text: open ? text : text + completion.slice(visibleFrom), hasUnclosedThink: open }',
    replace: 'return { text: completion, hasUnclosedThink: open }',
    tests: GRADING,
  },
  {
    name: 'strict extraction accepts two answers',
    find: 'return openings === 1 && closings === 1 && from <= to',
    replace: 'return openings >= 1 && from <= to',
    tests: GRADING,
  },
  // accept
  {
    name: 'a group that is posted with other content replaces the first',
    find: "return known == group.content_hash and 'duplicate'",
    replace: "return true and 'duplicate'",
    tests: ROLLOUTS,
  },
  {
    name: 'settings that changed while a group was posted are overlooked',
    find: "if tonumber(run[1]) ~= params.epoch or tonumber(run[2]) ~= params.revision then\n  return 'run_changed'\nend\nlocal run_changes,",
    replace: "if tonumber(run[1]) ~= params.epoch then\n  return 'run_changed'\nend\nlocal run_changes,",
    tests: [...ROLLOUTS, ...RUNS],
  },
  {
    name: 'a buffer holds one group more than its limit',
    find: 'return waiting < params.max_groups',
    replace: 'return waiting <= params.max_groups',
    tests: ROLLOUTS,
  },
  // complete
  {
    name: 'a group can be completed twice',
    find: "if stored and stored[1] == 'queued' and",
    replace: 'if stored and stored[1] and',
    tests: ROLLOUTS,
  },
  {
    name: 'a group of an earlier epoch is completed',
    find: 'if tonumber(run[1]) ~= params.epoch then\n  return nil\nend\nlocal last_step',
    replace: 'local last_step',
    tests: [...ROLLOUTS, ...RUNS],
  },
  {
    name: 'completed groups keep counting as queued',
    find: 'add_amount(changes.backlog, BACKLOG.queued_groups, -1)',
    replace: 'add_amount(changes.backlog, BACKLOG.queued_groups, 0)',
    tests: [...ROLLOUTS, ...BATCHES],
  },
  // compose
  {
    name: 'a step composes a second batch',
    find: 'if existing and is_whole then',
    replace: 'if existing and false then',
    tests: BATCHES,
  },
  {
    name: 'a composed group stays in the buffer',
    find: "redis.call('ZREM', K.buffer, id)\n  redis.call('HDEL', K.groupSummaries, id)",
    replace: "redis.call('HGET', K.groupSummaries, id)",
    tests: BATCHES,
  },
  {
    name: 'groups that are one version too old are delivered',
    find: 'params.policy_version - version > params.max_lag',
    replace: 'params.policy_version - version > params.max_lag + 1',
    tests: BATCHES,
  },
  // acknowledge
  {
    name: 'the first rank acknowledges for all',
    find: "if tonumber(redis.call('HGET', K.batch, count)) < params.ranks then",
    replace: 'if false then',
    tests: BATCHES,
  },
  {
    name: 'an acknowledged batch stays open',
    find: "redis.call('ZREM', K.openBatches, params.step)\nif redis.call('ZCARD', K.openBatches)",
    replace: "if redis.call('ZCARD', K.openBatches)",
    tests: BATCHES,
  },
  // curriculum
  {
    name: 'a good group lowers the level',
    find: 'adjustment = 0.05 * stability\n    elseif',
    replace: 'adjustment = -0.05 * stability\n    elseif',
    tests: RUNS,
  },
  {
    name: 'late groups of another difficulty move the level',
    find: 'if math.abs(group.difficulty - level) > 0.05 + 1e-9 then',
    replace: 'if false then',
    tests: RUNS,
  },
  // lease
  {
    name: 'an item whose lease has ended is not issued again',
    find: "redis.call('ZRANGEBYSCORE', K.leaseExpiries, '-inf', now, 'LIMIT', 0, wanted)",
    replace: "redis.call('ZRANGEBYSCORE', K.leaseExpiries, '-inf', 0, 'LIMIT', 0, wanted)",
    tests: SEQUENCE,
  },
  // permissions
  {
    name: 'a key reaches runs that it is not bound to',
    find: "if (typeof run === 'string' && !canAccessRun(caller, run)) {",
    replace: 'if (false as boolean) {',
    tests: ACCESS,
  },
  {
    name: 'evaluators may make calls of trainers',
    find: "trainers: ['trainer', 'admin'],",
    replace: "trainers: ['trainer', 'evaluator', 'admin'],",
    tests: ACCESS,
  },
]

/** The file of a checkout that holds the text of a fault, which must be there once. */
export function findSource(checkout: string, { find: text, name }: Mutant): string {
  const pattern = join(checkout, '{src,routes,packages}/**/*.{ts,lua,py}')
  const holders = globSync(pattern, { exclude: ['**/node_modules/**'] }).filter((file) =>
    readFileSync(file, 'utf8').includes(text),
  )
  const [file] = holders
  if (file === undefined || holders.length > 1 || readFileSync(file, 'utf8').split(text).length > 2)
    throw new Error(`"${name}": its text must occur once, but is in ${holders.join(', ') || 'no file'}: ${text}`)
  return file
}
