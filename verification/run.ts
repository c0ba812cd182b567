/** `npm run verify -- NAME [options]` runs one of the long proofs; with `--help`, it says what the proof does and its options. */

type Proofs = Readonly<Record<string, [about: string, options: string]>>

/** On one runner: storms.ts. Each takes `--seed N` too, which repeats a run. */
const STORMS: Proofs = {
  chaos: [
    'kills processes at random under load; every posted group must be accounted for, and be in a dump file once, with its texts and rewards',
    '[--kills 200 (of which two are of Redis)]',
  ],
  'open-groups': [
    'kills processes under trainers that send one rollout per call; each rollout with a response must count once',
    '[--kills 60] [--minutes 60 (ends with fewer kills)]',
  ],
  'rank-kills': [
    'kills ranks of the documented loop at any moment; each item must count once, and all ranks get the same batches',
    '[--steps 40] [--kills 22] [--items 12 (a step, of 8 rollouts each)]',
  ],
  topology: [
    'fails over and reshards Redis (Sentinel and cluster) under load; every posted group must be accounted for',
    '[--changes 10] [--case NAME] [--redis-server PATH (another Redis or Valkey)]',
  ],
  machines: [
    'cuts and slows the links between processes, moves clocks and kills; every posted group must be accounted for',
    '[--events 40]',
  ],
  soak: [
    'sends mixed traffic for an hour; fails if memory, file descriptors, keys or latencies grow',
    '[--minutes 60]',
  ],
}

/** Each is a file in this folder: what it does, and its options. */
const PROOFS: Proofs = {
  fidelity: [
    'compares recorded items and scores with those of a running server',
    '[--url http://127.0.0.1:8000] FILE.jsonl.gz …',
  ],
  differential: [
    'compares the TypeScript scorers with the library, 2,000 answers per task',
    '[--task NAME] [--answers 2000] [--seed 1] [--tasks-path PLACE]',
  ],
  exploits: [
    'sends every hostile answer to every task; nothing may run, and other clients must not notice',
    '[--task NAME] [--seconds 20]',
  ],
  'reward-hacks': [
    'searches for answers that earn a reward under hardened scoring without solving the task, or more than the guess floor',
    '[--task NAME] [--items 200] [--cells 100 (blind policies in so many cells of the task cards instead)] [--seed N]',
  ],
  mutants: [
    'puts thirty small faults into a copy of the sources, one at a time; the tests must notice at least 28',
    "[--only TEXT in a fault's name] [--keep (leaves the copy for a look)]",
  ],
  keys: [
    "compares the library's answer keys with second opinions, at the defaults and on every rung; hardened scoring and notes may leave no fault",
    '[TASK …] [--items 100 (in each cell)] [--seed 1000] [--rungs 0,3] [--show 3 (examples)] [--seconds 600 (a task)] [--record (for GET /tasks and the reference)] [--planted (plants faults instead: 99 of 100 must be found)]',
  ],
  notations: [
    'writes the right answer of every task in 65 notations; hardened scoring must pay each of them in 95 % of its tasks',
    '[TASK …] [--items 5] [--seed 4000]',
  ],
  'eval-statistics': [
    'measures false alarms and coverage of the eval statistics on simulated evals',
    '[--pairs 600] [--seed 1]',
  ],
  curriculum: [
    'measures how the curriculum `frontier` follows simulated models that stand still, learn, jump or fail',
    '[--seeds 20] [--only TEXT in a condition]',
  ],
  'scoring-cost': [
    'measures the worst-case time of each TypeScript scorer',
    '[--task NAME] [--size 65536] [--times 3]',
  ],
  'fair-shares': [
    'reads data sets at full speed; beside 16 readers, a new item may take three times what it takes alone',
    '[--readers 16] [--rounds 3] [--seconds 8] [--url URL]',
  ],
  fuzz: [
    'checks 10,000 calls against the OpenAPI document, and sends mutated answers to every task',
    '[--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER of recorded.jsonl.gz]',
  ],
  learner: [
    'trains a small transformer by GRPO through the server and in plain loops, and compares what the arms reach',
    '[--tries] [--keys (compares the keys of the library with corrected ones)] [--size tiny|small|climb|hill] [--bases 1 (base models, which the seeds take in turn)] [--seeds 1] [--steps 100] [--arms "clean;original;plain, staircase" (or "one try;two tries;two tries, format;two tries, rule", or "upstream keys;corrected keys")] [--at-once 1] [--python FILE (with JAX)] [--keep FOLDER]',
  ],
  rescore: [
    'scores the kept groups of a run over all tasks again; under equal rules nothing may differ, and POST /score hardly waits',
    '[--groups 10000] [--rollouts 16] [--seed 1] [--url URL]',
  ],
  scale: [
    'starts a server with 1,000 runs and one run of 100,000 groups; idle runs cost little, and no read blocks others',
    '[--runs 1000] [--groups 100000] [--seconds 30 (of idling)]',
  ],
  'openapi-clients': [
    'lints the OpenAPI document; a generated client must compile and work against a server',
    '[--url URL]',
  ],
  'dashboard-walk': [
    'opens every page in Chromium in each state, theme and width; no errors, no findings of axe, no cut scores',
    '[--widths 1440,820,390] [--schemes light,dark] [--only TEXT in the name of a stop] [--steps 12]',
  ],
  trainers: [
    'runs the client packages of trainers against a real server',
    '[NAME …] [--quick] [--newest] [--list] [--record]',
  ],
  notebook: [
    'runs the notebook of examples/ headless; its policy must learn and its curves must be drawn',
    '[--keep FILE (stores the executed notebook)]',
  ],
  'local-server': [
    'kills API, worker, Redis and serve under a Python client of LocalServer; nothing accepted may be lost, no process left',
    '',
  ],
  'redis-versions': [
    'runs the tests that meet Redis on the Redis of Debian 12 and 13 and on Valkey, which it downloads with apt and does not install',
    '[debian-12|debian-13|valkey …]',
  ],
  'fresh-machine': [
    "follows the README's lines on a new Debian 12 and 13, made by mmdebstrap: start, an example, the tests. It needs root",
    '[debian-12|debian-13 …] [--without-redis (leaves redis-server out)] [--keep (leaves the folder for a look)]',
  ],
  packages: [
    'builds the npm package and the wheel, and uses both in empty folders, the wheel without Node and network',
    '[--keep (leaves the folder for a look)]',
  ],
}

const ALL: Proofs = { ...STORMS, ...PROOFS }
const [name = '--help'] = process.argv.splice(2, 1)
const proof = ALL[name]
if (!proof) {
  const list = Object.entries(ALL).map(([each, [about]]) => `  ${each.padEnd(16)} ${about}`)
  console.log(['Usage: npm run verify -- NAME [options]', '', ...list].join('\n'))
  if (!['--help', '--list'].includes(name)) {
    console.error(`\nThere is no proof named ${JSON.stringify(name)}.`)
    process.exitCode = 2
  }
} else if (process.argv.includes('--help')) {
  const [about, options] = proof
  console.log(`Usage: npm run verify -- ${name} ${options}\n\nIt ${about}.`)
} else if (name in STORMS) {
  const { runStorm } = await import('./storms.ts')
  await runStorm(name)
} else await import(`./${name}.ts`)
