/** `npm run verify -- NAME [options]`: the long proofs, each a file beside this one with its own `--help` or header. */

const PROOFS = {
  chaos: 'kills processes at random under load; the ledger of what was posted must balance',
  'open-groups': 'kills processes under trainers that send one rollout a call; each answered rollout must count once',
  'rank-kills': 'ranks of the documented loop are killed at any moment; each item must count once, in the same batches',
  topology: 'Sentinel and cluster failover and resharding under load; the ledger of the chaos run must balance',
  fidelity: 'recorded items and scores, compared with the answers of a running server',
  differential: 'the native scorers against the library, 2,000 answers per task',
  exploits: 'every task meets every hostile answer, and others must not notice',
  'reward-hacks': 'searches for constant answers that earn a reward under hardened scoring',
  'eval-statistics': 'false alarms and coverage of the statistics of evals, in simulated evals',
  'scoring-cost': 'the worst-case time of each native scoring rule',
  fuzz: '10,000 calls checked against the OpenAPI document, and mutated answers for every task',
  soak: 'an hour of steady mixed traffic; fails if memory, files, keys or latencies grow',
  'slow-clients':
    'clients that do not read, read all at once, or send half a body; memory, /livez and posts beside them',
  'dump-soak': '20,000 groups dumped by workers that are killed, with a size limit and a full disk',
  'hardened-report': 'what hardened scoring changes in recorded verdicts',
  'first-start': 'interrupts the first start of a new checkout at twelve moments; the next must succeed without help',
  trainers: 'the real client packages of trainers against a real server',
  image: 'the steps of the Dockerfile and every role of the image, in Debian root folders (needs root and debootstrap)',
} as const

const [name = '--help'] = process.argv.splice(2, 1)
if (name in PROOFS) await import(`./${name}.ts`)
else {
  const list = Object.entries(PROOFS).map(([proof, what]) => `  ${proof.padEnd(16)} ${what}`)
  console.log(['Usage: npm run verify -- NAME [options]', '', ...list].join('\n'))
  if (name !== '--help') {
    console.error(`\nThere is no proof named ${JSON.stringify(name)}.`)
    process.exitCode = 2
  }
}
