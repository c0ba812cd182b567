/** Every failure that docs/operations/failures.md describes is reproduced by a test. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const OPEN_GROUPS = 'test/features/adapters/open-groups.test.ts'
const POSITIONS = 'test/features/runs/sequence/positions.test.ts'
const SLOW_CLIENTS = 'test/routes/slow-clients.test.ts'

/** For each row of the page, the tests: a file and, where it has others too, parts of their titles. */
const TESTS: Record<string, [file: string, ...titles: string[]][]> = {
  'Redis is down': [['test/failures/redis.test.ts', 'gone']],
  'Redis is slow or hangs': [['test/failures/redis.test.ts', 'slow'], ['test/failures/stuck-redis.test.ts']],
  'Redis has reached its memory limit': [['test/failures/redis.test.ts', 'full'], ['test/failures/full-redis.test.ts']],
  'Redis may evict keys: its `maxmemory-policy` is not `noeviction`': [
    ['test/failures/redis.test.ts', 'may evict keys'],
    ['test/platform/redis/durability.test.ts'],
  ],
  'Redis rejects writes: it is a read-only replica, has too few replicas, or its snapshot failed': [
    ['test/failures/redis.test.ts', 'read-only', 'too few replicas', 'a snapshot that fails'],
  ],
  'Redis and the server disagree on TLS': [['test/platform/redis/redis-tls.test.ts', 'is told in one line']],
  'Redis comes back empty': [['test/failures/redis.test.ts', 'restarted empty']],
  'Redis is emptied during training': [['test/failures/two-processes.test.ts', 'emptied under load']],
  'The master behind Sentinel dies or hangs': [['test/cluster/sentinel.test.ts', 'takes every connection along']],
  'The master behind one address, such as a virtual IP or a Kubernetes Service, is replaced, and its connections stay open':
    [['test/platform/redis/script-connections.test.ts', 'replaced behind their address']],
  'A master of a cluster dies': [['verification/storm/topology.ts', 'cluster-failover']],
  'A master has fewer replicas than `REDIS_REPLICAS`': [
    ['test/platform/redis/replication.test.ts', 'get 503 if they write'],
  ],
  'A failover loses the texts of a group that waits for a trainer': [
    ['test/features/rollouts/texts-and-arrays.test.ts', 'that a batch has lost say so'],
  ],
  'A failover loses the latest entries of the index of runs': [
    ['test/features/runs/run-index.test.ts', 'the repair adds the runs with work'],
  ],
  'Redis is down while a trainer sends single samples of a run': [[OPEN_GROUPS, 'is refused while Redis is away']],
  'The private Redis dies': [['test/failures/processes.test.ts', 'the private Redis killed']],
  'The disk of the private Redis is full': [['test/failures/processes.test.ts', 'disk full']],
  'An entry in Redis is cut off or has another shape': [['test/features/runs/unreadable-entries.test.ts']],

  'An API process or a worker is killed, or hangs': [
    ['test/processes/hung-api.test.ts', 'one that hangs'],
    ['test/processes/serve.test.ts', 'killed in the middle'],
    ['test/verification/storm.test.ts'],
    [OPEN_GROUPS, 'whose process dies counts once', 'of a process that dies is not taken'],
    [OPEN_GROUPS, 'whose process dies before it is submitted'],
    ['test/features/runs/curriculum/frontier.test.ts', 'of a process that died before it folded'],
    ['test/features/runs/deletion.test.ts', 'taken up by another worker'],
  ],
  'An API process is killed while it answers `POST /items`': [
    ['test/failures/two-processes.test.ts', 'killed between decision and answer'],
  ],
  'A rank of the trainer is killed and restarts': [['test/clients/rank-kills.test.ts', 'killed and start again']],
  'A trainer returns to an earlier step or position': [
    [POSITIONS, 'the same items 320 steps later', 'the item that a restored checkpoint implies'],
  ],
  'A trainer resumes from its weights of an earlier step': [
    ['test/features/rewinds/rewind.test.ts', 'later groups are void', 'calls that wait during a rewind'],
  ],
  'A process is killed during a rewind or a fork': [
    ['test/features/rewinds/rewind.test.ts', 'that a kill interrupts'],
    ['test/features/rollouts/ledger.test.ts'],
  ],
  'All processes get a stop signal at once, as from Ctrl-C or systemd, or several signals': [
    ['test/processes/signals.test.ts', 'the shutdown is complete', 'a second Ctrl-C'],
  ],
  'A process receives SIGTERM under load': [['test/failures/processes.test.ts', 'ended under load']],

  'The Python of the engine is gone': [
    ['test/failures/engine.test.ts', 'its Python deleted under load'],
    ['test/main/bootstrap/python/interrupted-start.test.ts', 'whose interpreter is gone'],
    ['test/routes/jobs.test.ts', 'longer than its tries'],
  ],
  'A Python worker crashes or hangs': [['test/engine/contract.ts', 'crash', 'hang']],
  'The code that makes an item raises an exception, exits, hangs, or returns something that is not an item': [
    ['test/features/custom-tasks/unmakeable-items.test.ts', 'answers with make_failed', 'end as failed'],
  ],
  'The machine is too busy to make an item': [['test/engine/outcome.test.ts', 'starved']],
  'The library cannot make an item at a seed': [
    [
      'test/features/runs/sequence/usable-items.test.ts',
      'a seed at which the library raises costs the sequence no position',
    ],
    ['test/routes/items.test.ts', 'a seed at which the library raises is left out and named'],
    [
      'test/features/evals/evals.test.ts',
      'an item that the library cannot make costs an eval that sample and no other',
    ],
  ],
  'Every question of a task is in a frozen suite, under `exclude_eval_items`': [
    ['test/features/runs/sequence/held-out.test.ts', 'a task whose every question is held out is skipped and says so'],
  ],
  'The model of an eval or a collection cannot be reached, does not exist, or rejects the key': [
    [
      'test/features/evals/models/obstacle.test.ts',
      'nothing listens',
      'fetch refuses the port',
      'to every request is said in words',
    ],
    ['test/features/evals/evals.test.ts', 'with the right key it goes on'],
  ],
  'The first 32 samples of an eval or a collection fail in the same way': [
    ['test/features/evals/evals.test.ts', 'the first 32 samples have failed in the same way'],
  ],
  'No sample of an eval has a score': [
    ['test/features/evals/evals.test.ts', 'fails with the reason if no sample has a score'],
    ['test/features/evals/collections.test.ts', 'a rollout without a score is failed'],
  ],
  'The completions of evals exceed `EVAL_OUTPUTS_MAX_BYTES`': [
    ['test/features/evals/output-space.test.ts', 'only verdicts are stored'],
  ],

  'Clients stop reading large replies': [
    [SLOW_CLIENTS, 'silent readers are dropped', 'a reply for which no slot is free'],
  ],
  'Connections take all files that an API process may open (`ulimit -n`)': [
    ['test/failures/open-files.test.ts', 'end no process', 'never send anything make room'],
  ],
  'A trainer gives up on a call with a single sample, and sends the sample again': [
    [OPEN_GROUPS, 'that its client gave up on is not counted', 'whose client hangs up'],
  ],
  'No trainer takes batches of a run with `buffer_open_groups`': [
    [OPEN_GROUPS, 'waits for a trainer only where that is wanted'],
  ],
  'The open groups of a run reach their limit': [[OPEN_GROUPS, 'whose open groups take all they may']],
  'An API key is removed from `API_KEYS_FILE`, or changed there': [
    ['test/http/auth/revoked-keys.test.ts', 'breaks off', 'gets 401 in place of its answer'],
  ],
  'A page of another origin calls from a browser': [['test/dashboard/foreign-pages.test.ts', 'change nothing']],

  'The Redis of `REDIS_URL` does not answer': [
    ['test/main/redis-database.test.ts', 'a Redis that is away ends the start'],
  ],
  'Two engine versions meet on one Redis': [['test/failures/engine.test.ts', 'another engine version']],
  'The library is upgraded while groups wait': [['test/failures/engine-upgrade.test.ts']],
  'The library is upgraded while samples wait in open groups': [
    [OPEN_GROUPS, 'of an item that nobody can score any more'],
  ],
  'A new version of the server has different ladders': [
    ['test/features/items/recipe-resolver.test.ts', 'an item keeps its config when the ladder changes'],
  ],
}

it('every row of docs/operations/failures.md has tests', () => {
  const page = readFileSync(new URL('docs/operations/failures.md', ROOT), 'utf8')
  const rows = [...page.matchAll(/^\| ((?!what fails |-).+?) \| .+ \| .+ \|$/gm)].map(([, what]) => what)
  expect(rows).toEqual(Object.keys(TESTS))
})

it.each(Object.entries(TESTS))('%s', (_, tests) => {
  for (const [file, ...titles] of tests) {
    const path = new URL(file, ROOT)
    expect(existsSync(path), file).toBe(true)
    for (const title of titles) expect(readFileSync(path, 'utf8')).toContain(title)
  }
})
