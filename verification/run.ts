/** `npm run verify -- NAME [options]` runs one of the long proofs. Each is a file in this folder with its own `--help` or header. */

const PROOFS = {
  chaos: 'kills processes at random under load; every posted group must be accounted for',
  'open-groups':
    'kills processes under trainers that send one rollout per call; each rollout with a response must count once',
  'rank-kills':
    'kills ranks of the documented loop at any moment; each item must count once, and all ranks get the same batches',
  topology: 'fails over and reshards Redis (Sentinel and cluster) under load; every posted group must be accounted for',
  machines:
    'simulates a network of machines with latency, loss, partitions and wrong clocks, and kills processes; the ledger must balance (needs root)',
  fidelity: 'compares recorded items and scores with those of a running server',
  differential: 'compares the TypeScript scorers with the library, 2,000 answers per task',
  exploits: 'sends every hostile answer to every task; nothing may run, and other clients must not notice',
  'reward-hacks': 'searches for answers that earn a reward under hardened scoring without solving the task',
  'eval-statistics': 'measures false alarms and coverage of the eval statistics on simulated evals',
  'scoring-cost': 'measures the worst-case time of each TypeScript scorer',
  fuzz: 'checks 10,000 calls against the OpenAPI document, and sends mutated answers to every task',
  soak: 'sends mixed traffic for an hour; fails if memory, file descriptors, keys or latencies grow',
  'slow-clients':
    'connects clients that do not read, or that send half a body; measures memory and the latency of other clients',
  'dump-soak':
    'dumps 20,000 groups with workers that are killed, a size limit and a full disk; each group must be in a file once',
  'hardened-report': 'shows what hardened scoring changes in recorded verdicts',
  'openapi-clients': 'lints the OpenAPI document; clients of three generators must compile and work against a server',
  'first-start':
    'interrupts the first start of a new checkout at twelve moments; the next start must succeed without help',
  'dashboard-speed':
    'opens a run of 105 tasks and 5,000 steps in Chromium; time of routes, paint, live updates and size of scripts',
  'dashboard-walk':
    'opens every page in Chromium in each state, theme and width; no errors, no findings of axe, no cut scores',
  trainers: 'runs the client packages of trainers against a real server',
  notebook: 'runs the notebook of examples/ headless; its policy must learn and its curves must be drawn',
  packages: 'builds the npm package and the wheel, and uses both in empty folders, the wheel without Node and network',
  image:
    'runs the steps of the Dockerfile and each role of the image in Debian root folders (needs root and debootstrap)',
} as const

const [name = '--help'] = process.argv.splice(2, 1)
if (name in PROOFS) await import(`./${name}.ts`)
else {
  const list = Object.entries(PROOFS).map(([proof, what]) => `  ${proof.padEnd(16)} ${what}`)
  console.log(['Usage: npm run verify -- NAME [options]', '', ...list].join('\n'))
  if (!['--help', '--list'].includes(name)) {
    console.error(`\nThere is no proof named ${JSON.stringify(name)}.`)
    process.exitCode = 2
  }
}
