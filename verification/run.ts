/** `npm run verify -- NAME [options]` runs one of the long proofs; with `--help`, it says what the proof does and its options. */

interface Proof {
  about: string
  /** On the command line. */
  options?: string
}

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

/** Each is a file in this folder. */
const PROOFS: Readonly<Record<string, Proof>> = {
  fidelity: {
    about: 'compares recorded items and scores with those of a running server',
    options: '[--url http://127.0.0.1:8000] FILE.jsonl.gz …',
  },
  differential: {
    about: 'compares the TypeScript scorers with the library, 2,000 answers per task',
    options: '[--task NAME] [--answers 2000] [--seed 1] [--tasks-path PLACE]',
  },
  exploits: {
    about: 'sends every hostile answer to every task; nothing may run, and other clients must not notice',
    options: '[--task NAME] [--seconds 20]',
  },
  'reward-hacks': {
    about: 'searches for answers that earn a reward under hardened scoring without solving the task',
    options: '[--task NAME] [--items 200] [--seed N]',
  },
  'eval-statistics': {
    about: 'measures false alarms and coverage of the eval statistics on simulated evals',
    options: '[--pairs 600] [--seed 1]',
  },
  'scoring-cost': {
    about: 'measures the worst-case time of each TypeScript scorer',
    options: '[--task NAME] [--size 65536] [--times 3]',
  },
  fuzz: {
    about: 'checks 10,000 calls against the OpenAPI document, and sends mutated answers to every task',
    options: '[--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER of recorded.jsonl.gz]',
  },
  'slow-clients': {
    about:
      'connects clients that do not read, or that send half a body; measures memory and the latency of other clients',
    options: '[--readers 120] [--mb 20]',
  },
  'openapi-clients': {
    about: 'lints the OpenAPI document; clients of three generators must compile and work against a server',
    options: '[--url URL]',
  },
  'first-start': {
    about: 'interrupts the first start of a new checkout at twelve moments; the next start must succeed without help',
    options: '[--all (each moment with each of the three interruptions)] [--only TEXT in the name of a moment]',
  },
  'dashboard-speed': {
    about:
      'opens a run of 105 tasks and 5,000 steps in Chromium; time of routes, paint, live updates and size of scripts',
    options: '[--steps 5000] [--factor 3 (allows three times as much time)]',
  },
  'dashboard-walk': {
    about: 'opens every page in Chromium in each state, theme and width; no errors, no findings of axe, no cut scores',
    options: '[--widths 1440,820,390] [--schemes light,dark] [--only TEXT in the name of a stop] [--steps 12]',
  },
  trainers: {
    about: 'runs the client packages of trainers against a real server',
    options: '[NAME …] [--quick] [--newest] [--list] [--record] [--venvs FOLDER]',
  },
  notebook: {
    about: 'runs the notebook of examples/ headless; its policy must learn and its curves must be drawn',
    options: '[--keep FILE (stores the executed notebook)]',
  },
  packages: {
    about: 'builds the npm package and the wheel, and uses both in empty folders, the wheel without Node and network',
    options: '[--keep (leaves the folder for a look)]',
  },
  image: {
    about:
      'runs the steps of the Dockerfile and each role of the image in Debian root folders (needs root and debootstrap)',
    options: '[--folder FOLDER] [--mirror URL] [--with FILE that the steps need …] [--built (reuses the roots)]',
  },
}

const [name = '--help'] = process.argv.splice(2, 1)
const proof = PROOFS[name]
if (name in STORMS) {
  const { runStorm } = await import('./storms.ts')
  await runStorm(name)
} else if (proof && process.argv.includes('--help')) {
  console.log(`Usage: npm run verify -- ${name} ${proof.options ?? ''}\n\nIt ${proof.about}.`)
} else if (proof) await import(`./${name}.ts`)
else {
  const about = [
    ...Object.entries(STORMS),
    ...Object.entries(PROOFS).map(([of, { about: text }]) => [of, text] as const),
  ]
  const list = about.map(([of, text]) => `  ${of.padEnd(16)} ${text}`)
  console.log(['Usage: npm run verify -- NAME [options]', '', ...list].join('\n'))
  if (!['--help', '--list'].includes(name)) {
    console.error(`\nThere is no proof named ${JSON.stringify(name)}.`)
    process.exitCode = 2
  }
}
