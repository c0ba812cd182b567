/** `npm run verify -- NAME [options]` runs one of the long proofs; with `--help`, it says what the proof does and its options. */

/** On one runner: storms.ts. They describe their options themselves. */
const STORMS: Readonly<Record<string, string>> = {
  chaos: 'kills processes at random under load; every posted group must be accounted for',
  'open-groups':
    'kills processes under trainers that send one rollout per call; each rollout with a response must count once',
  'rank-kills':
    'kills ranks of the documented loop at any moment; each item must count once, and all ranks get the same batches',
  topology: 'fails over and reshards Redis (Sentinel and cluster) under load; every posted group must be accounted for',
  machines:
    'simulates a network of machines with latency, loss, partitions and wrong clocks, and kills processes; the ledger must balance (needs root)',
  'dump-soak':
    'dumps 20,000 groups with workers that are killed, a size limit and a full disk; each group must be in a file once',
  soak: 'sends mixed traffic for an hour; fails if memory, file descriptors, keys or latencies grow',
}

/** Each is a file in this folder: what it does, and its options. */
const PROOFS: Readonly<Record<string, [about: string, options: string]>> = {
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
    'searches for answers that earn a reward under hardened scoring without solving the task',
    '[--task NAME] [--items 200] [--seed N]',
  ],
  'eval-statistics': [
    'measures false alarms and coverage of the eval statistics on simulated evals',
    '[--pairs 600] [--seed 1]',
  ],
  'scoring-cost': [
    'measures the worst-case time of each TypeScript scorer',
    '[--task NAME] [--size 65536] [--times 3]',
  ],
  fuzz: [
    'checks 10,000 calls against the OpenAPI document, and sends mutated answers to every task',
    '[--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER of recorded.jsonl.gz]',
  ],
  'slow-clients': [
    'connects clients that do not read, or that send half a body; measures memory and the latency of other clients',
    '[--readers 120] [--mb 20]',
  ],
  'openapi-clients': [
    'lints the OpenAPI document; clients of three generators must compile and work against a server',
    '[--url URL]',
  ],
  'first-start': [
    'interrupts the first start of a new checkout at twelve moments; the next start must succeed without help',
    '[--all (each moment with each of the three interruptions)] [--only TEXT in the name of a moment]',
  ],
  'dashboard-speed': [
    'opens a run of 105 tasks and 5,000 steps in Chromium; time of routes, paint, live updates and size of scripts',
    '[--steps 5000] [--factor 3 (allows three times as much time)]',
  ],
  'dashboard-walk': [
    'opens every page in Chromium in each state, theme and width; no errors, no findings of axe, no cut scores',
    '[--widths 1440,820,390] [--schemes light,dark] [--only TEXT in the name of a stop] [--steps 12]',
  ],
  trainers: [
    'runs the client packages of trainers against a real server',
    '[NAME …] [--quick] [--newest] [--list] [--record] [--venvs FOLDER]',
  ],
  notebook: [
    'runs the notebook of examples/ headless; its policy must learn and its curves must be drawn',
    '[--keep FILE (stores the executed notebook)]',
  ],
  packages: [
    'builds the npm package and the wheel, and uses both in empty folders, the wheel without Node and network',
    '[--keep (leaves the folder for a look)]',
  ],
  image: [
    'runs the steps of the Dockerfile and each role of the image in Debian root folders (needs root and debootstrap)',
    '[--folder FOLDER] [--mirror URL] [--with FILE that the steps need …] [--built (reuses the roots)]',
  ],
}

const [name = '--help'] = process.argv.splice(2, 1)
const [about, options] = PROOFS[name] ?? []
if (name in STORMS) {
  const { runStorm } = await import('./storms.ts')
  await runStorm(name)
} else if (about !== undefined && process.argv.includes('--help')) {
  console.log(`Usage: npm run verify -- ${name} ${options}\n\nIt ${about}.`)
} else if (about !== undefined) await import(`./${name}.ts`)
else {
  const proofs = Object.entries(PROOFS).map(([proof, [what]]) => [proof, what] as const)
  const list = [...Object.entries(STORMS), ...proofs].map(([proof, what]) => `  ${proof.padEnd(16)} ${what}`)
  console.log(['Usage: npm run verify -- NAME [options]', '', ...list].join('\n'))
  if (!['--help', '--list'].includes(name)) {
    console.error(`\nThere is no proof named ${JSON.stringify(name)}.`)
    process.exitCode = 2
  }
}
