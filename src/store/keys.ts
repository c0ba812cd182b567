/** Every key in Redis. What belongs to one run shares a hash tag, so that one script can touch it in a cluster. */

/** Keys of one run in one epoch: restoring a checkpoint begins a new one, and old groups are out of the way. */
export interface RunKeys {
  run: string
  tasks: string
  curriculum: string
  /** Shares of right rollouts in the last groups of each task: task to numbers with commas. */
  outcomes: string
  history: string
  /** Positions of the sequence that are not handed out, and what is known of each; see plan.lua. */
  open: string
  heads: string
  bodies: string
  /** Positions that were handed out and whose group has not come. */
  leases: string
  leased: string
  skipped: string
  /** Steps that have figures, and the sums of one of them. */
  metrics: string
  metricsOf(step: number | ''): string
  /** Training steps that have items of their own, by when they were last asked for. */
  steps: string
  step(step: number | ''): string
  stepBodies(step: number): string
  pending: string
  buffer: string
  recent: string
  /** What is queued, buffered and in open batches, in numbers. */
  stock: string
  /** What a buffered group comes to, without its rollouts. */
  facts: string
  /** Groups whose texts are kept though nobody waits for them. */
  texts: string
  failed: string
  openBatches: string
  acknowledged: string
  group(id: string): string
  batch(step: number): string
}

/** Keys of a run's dumps: in the run's slot, but not among what a DELETE of the run forgets. */
export interface DumpKeys {
  /** Hash: next number, groups, bytes and refusals of each kind. */
  state: string
  /** Hash of files whose groups are fixed: `kind/number` to how many there are. */
  unwritten: string
  /** Hash of files on disk: name to what is known of it. */
  files: string
  /** List of records that wait for the next file of a kind. */
  waiting(kind: string): string
  /** List of the records of one file. */
  frozen(kind: string, number: number | ''): string
}

/** Keys of one eval or collection. */
export interface SamplingKeys {
  sampling: string
  secret: string
  items: string
  texts: string
  verdicts: string
  claims: string
  again: string
  events: string
  taking: string
}

export interface Keys {
  runs: string
  /** Set of `run/uuid` that have dumps. */
  dumps: string
  /** Sorted set of those in which something may still wait, by when it last grew. */
  openDumps: string
  /** Bytes of all dumps, waiting and on disk. */
  dumpBytes: string
  workers: string
  /** Processes by engine version: all that live have the same. */
  engines: string
  taskStatistics: string
  /** Shared sums of counters and histograms. */
  metrics: string
  /** What each process last told of itself. */
  processes: string
  /** Ids of evals or collections by the time they were made. */
  samplings(kind: string): string
  /** Ids of samplings that have not ended, by the time they were made. */
  activeSamplings: string
  /** Evals and collections that a caller has begun. */
  seats(caller: string): string
  ofSampling(id: string): SamplingKeys
  /** What an Idempotency-Key stands for. */
  idempotent(key: string): string
  /** The totals of the last hour, and whose turn it is to write the next point. */
  trail: string
  trailTurn: string
  /** Channel on which completed groups are announced: `run/epoch/group`. */
  completions: string
  /** BullMQ's own prefix, with a hash tag of its own. */
  jobs: string
  /** What a caller has used in a minute. */
  spent(minute: number, caller: string): string
  /** Kept entries lie in buckets, each bounded by itself. */
  entryBucket(bucket: number): string
  entry(bucket: number, itemId: string): string
  /** Which item a question belongs to, in buckets too. */
  questionBucket(bucket: number): string
  question(bucket: number, hash: string): string
  run(name: string): string
  /** A pattern that finds every key of a run. */
  everyOf(name: string): string
  everyOfEpoch(name: string, epoch: number): string
  ofRun(name: string, epoch: number): RunKeys
  ofDumps(name: string, uuid: string): DumpKeys
}

export function keysUnder(prefix: string): Keys {
  const tag = (name: string) => `{${prefix}:run:${name}}`
  return {
    runs: `${prefix}:runs`,
    dumps: `${prefix}:dumps`,
    openDumps: `${prefix}:open-dumps`,
    dumpBytes: `${prefix}:dump-bytes`,
    workers: `${prefix}:workers`,
    engines: `${prefix}:engines`,
    taskStatistics: `${prefix}:task-statistics`,
    metrics: `${prefix}:metrics`,
    processes: `${prefix}:processes`,
    trail: `${prefix}:trail`,
    trailTurn: `${prefix}:trail-turn`,
    completions: `${prefix}:completions`,
    jobs: `{${prefix}:jobs}`,
    spent: (minute, caller) => `${prefix}:spent:${minute}:${caller}`,
    samplings: (kind) => `${prefix}:samplings:${kind}`,
    activeSamplings: `${prefix}:samplings:active`,
    seats: (caller) => `${prefix}:seats:${caller}`,
    ofSampling: (id) => {
      const of = (part: string) => `{${prefix}:sampling:${id}}:${part}`
      return {
        sampling: of('sampling'),
        secret: of('secret'),
        items: of('items'),
        texts: of('texts'),
        verdicts: of('verdicts'),
        claims: of('claims'),
        again: of('again'),
        events: of('events'),
        taking: of('taking'),
      }
    },
    idempotent: (key) => `${prefix}:idempotent:${key}`,
    entryBucket: (bucket) => `{${prefix}:entries:${bucket}}`,
    entry: (bucket, itemId) => `{${prefix}:entries:${bucket}}:${itemId}`,
    questionBucket: (bucket) => `{${prefix}:questions:${bucket}}`,
    question: (bucket, hash) => `{${prefix}:questions:${bucket}}:${hash}`,
    everyOf: (name) => `${tag(name)}:*`,
    everyOfEpoch: (name, epoch) => `${tag(name)}:${epoch}:*`,
    run: (name) => `${tag(name)}:run`,
    ofRun: (name, epoch) => ({
      run: `${tag(name)}:run`,
      tasks: `${tag(name)}:${epoch}:tasks`,
      curriculum: `${tag(name)}:${epoch}:curriculum`,
      outcomes: `${tag(name)}:${epoch}:outcomes`,
      history: `${tag(name)}:${epoch}:history`,
      open: `${tag(name)}:${epoch}:open`,
      heads: `${tag(name)}:${epoch}:heads`,
      bodies: `${tag(name)}:${epoch}:bodies`,
      leases: `${tag(name)}:${epoch}:leases`,
      leased: `${tag(name)}:${epoch}:leased`,
      skipped: `${tag(name)}:${epoch}:skipped`,
      metrics: `${tag(name)}:${epoch}:metrics`,
      metricsOf: (step) => `${tag(name)}:${epoch}:metrics:${step}`,
      steps: `${tag(name)}:${epoch}:steps`,
      step: (step) => `${tag(name)}:${epoch}:step:${step}`,
      stepBodies: (step) => `${tag(name)}:${epoch}:step-bodies:${step}`,
      pending: `${tag(name)}:${epoch}:pending`,
      buffer: `${tag(name)}:${epoch}:buffer`,
      recent: `${tag(name)}:${epoch}:recent`,
      stock: `${tag(name)}:${epoch}:stock`,
      facts: `${tag(name)}:${epoch}:facts`,
      texts: `${tag(name)}:${epoch}:texts`,
      failed: `${tag(name)}:${epoch}:failed`,
      openBatches: `${tag(name)}:${epoch}:open-batches`,
      acknowledged: `${tag(name)}:${epoch}:acknowledged`,
      batch: (step) => `${tag(name)}:${epoch}:batch:${step}`,
      group: (id) => `${tag(name)}:${epoch}:group:${id}`,
    }),
    ofDumps: (name, uuid) => ({
      state: `${tag(name)}dumps:${uuid}`,
      unwritten: `${tag(name)}dumps:${uuid}:unwritten`,
      files: `${tag(name)}dumps:${uuid}:files`,
      waiting: (kind) => `${tag(name)}dumps:${uuid}:${kind}`,
      frozen: (kind, number) => `${tag(name)}dumps:${uuid}:${kind}:${number}`,
    }),
  }
}
