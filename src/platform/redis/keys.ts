/** Every key in Redis. What belongs to one run shares a hash tag, so that one script can touch it in a cluster. */

/** Keys of one run in one epoch: restoring a checkpoint begins a new one, and old groups are out of the way. */
export interface RunKeys {
  run: string
  taskSums: string
  curriculum: string
  /** Shares of right rollouts in the last groups of each task: task to numbers with commas. */
  recentAccuracies: string
  curriculumHistory: string
  /** Positions of the sequence that are not handed out, and what is known of each; see plan.lua. */
  openPositions: string
  positionStates: string
  itemBodies: string
  /** Positions that were handed out and whose group has not come. */
  leaseExpiries: string
  leasedItems: string
  skippedPositions: string
  /** Steps that have figures, and the sums of one of them. */
  metricSteps: string
  metricSums(step: number | ''): string
  /** Training steps that have items of their own, by when they were last asked for. */
  steps: string
  stepItems(step: number | ''): string
  stepItemBodies(step: number): string
  pendingGroups: string
  buffer: string
  recentGroups: string
  /** What is queued, buffered and in open batches, in numbers. */
  backlog: string
  /** What a buffered group comes to, without its rollouts. */
  groupSummaries: string
  /** Groups whose texts are kept though nobody waits for them. */
  retainedTexts: string
  failedGroups: string
  openBatches: string
  acknowledgedSteps: string
  group(id: string): string
  batch(step: number): string
}

/** Keys of a run's dumps: in the run's slot, but not among what a DELETE of the run forgets. */
export interface DumpKeys {
  /** Hash: next number, groups, bytes and refusals of each kind. */
  state: string
  /** Hash of files whose groups are fixed: `kind/number` to how many there are. */
  unwrittenFiles: string
  /** Hash of files on disk: name to what is known of it. */
  writtenFiles: string
  /** List of records that wait for the next file of a kind. */
  pendingRecords(kind: string): string
  /** List of the records of one file. */
  fileRecords(kind: string, number: number | ''): string
}

/** Keys of one eval or collection. */
export interface GenerationJobKeys {
  job: string
  modelApiKey: string
  items: string
  completions: string
  verdicts: string
  claims: string
  retries: string
  events: string
  itemLock: string
}

export interface RedisKeys {
  runs: string
  /** Set of `run/uuid` that have dumps. */
  dumpedRuns: string
  /** Sorted set of those in which something may still wait, by when it last grew. */
  openDumpedRuns: string
  /** Bytes of all dumps, waiting and on disk. */
  dumpBytes: string
  workers: string
  /** Processes by engine version: all that live have the same. */
  engineProcesses: string
  taskStatistics: string
  /** Shared sums of counters and histograms. */
  metricSums: string
  /** What each process last told of itself. */
  processReports: string
  /** Ids of evals or collections by the time they were made. */
  generationJobs(kind: string): string
  /** Ids of samplings that have not ended, by the time they were made. */
  activeGenerationJobs: string
  /** Evals and collections that a caller has begun. */
  callerGenerationJobs(caller: string): string
  forGenerationJob(id: string): GenerationJobKeys
  /** What an Idempotency-Key stands for. */
  idempotencyKey(key: string): string
  /** The totals of the last hour, and whose turn it is to write the next point. */
  hourlySeries: string
  hourlySeriesLock: string
  /** Channel on which completed groups are announced: `run/epoch/group`. */
  groupCompletionChannel: string
  /** BullMQ's own prefix, with a hash tag of its own. */
  queuePrefix: string
  /** What a caller has used in a minute. */
  usage(minute: number, caller: string): string
  /** Kept entries lie in buckets, each bounded by itself. */
  itemEntryBucket(bucket: number): string
  itemEntry(bucket: number, itemId: string): string
  /** Which item a question belongs to, in buckets too. */
  questionBucket(bucket: number): string
  question(bucket: number, hash: string): string
  run(name: string): string
  /** A pattern that finds every key of a run. */
  runKeyPattern(name: string): string
  epochKeyPattern(name: string, epoch: number): string
  forRun(name: string, epoch: number): RunKeys
  forDumps(name: string, uuid: string): DumpKeys
}

export function createRedisKeys(prefix: string): RedisKeys {
  const tag = (name: string) => `{${prefix}:run:${name}}`
  return {
    runs: `${prefix}:runs`,
    dumpedRuns: `${prefix}:dumps`,
    openDumpedRuns: `${prefix}:open-dumps`,
    dumpBytes: `${prefix}:dump-bytes`,
    workers: `${prefix}:workers`,
    engineProcesses: `${prefix}:engines`,
    taskStatistics: `${prefix}:task-statistics`,
    metricSums: `${prefix}:metrics`,
    processReports: `${prefix}:processes`,
    hourlySeries: `${prefix}:trail`,
    hourlySeriesLock: `${prefix}:trail-turn`,
    groupCompletionChannel: `${prefix}:completions`,
    queuePrefix: `{${prefix}:jobs}`,
    usage: (minute, caller) => `${prefix}:spent:${minute}:${caller}`,
    generationJobs: (kind) => `${prefix}:samplings:${kind}`,
    activeGenerationJobs: `${prefix}:samplings:active`,
    callerGenerationJobs: (caller) => `${prefix}:seats:${caller}`,
    forGenerationJob: (id) => {
      const of = (part: string) => `{${prefix}:sampling:${id}}:${part}`
      return {
        job: of('sampling'),
        modelApiKey: of('secret'),
        items: of('items'),
        completions: of('texts'),
        verdicts: of('verdicts'),
        claims: of('claims'),
        retries: of('again'),
        events: of('events'),
        itemLock: of('taking'),
      }
    },
    idempotencyKey: (key) => `${prefix}:idempotent:${key}`,
    itemEntryBucket: (bucket) => `{${prefix}:entries:${bucket}}`,
    itemEntry: (bucket, itemId) => `{${prefix}:entries:${bucket}}:${itemId}`,
    questionBucket: (bucket) => `{${prefix}:questions:${bucket}}`,
    question: (bucket, hash) => `{${prefix}:questions:${bucket}}:${hash}`,
    runKeyPattern: (name) => `${tag(name)}:*`,
    epochKeyPattern: (name, epoch) => `${tag(name)}:${epoch}:*`,
    run: (name) => `${tag(name)}:run`,
    forRun: (name, epoch) => ({
      run: `${tag(name)}:run`,
      taskSums: `${tag(name)}:${epoch}:tasks`,
      curriculum: `${tag(name)}:${epoch}:curriculum`,
      recentAccuracies: `${tag(name)}:${epoch}:outcomes`,
      curriculumHistory: `${tag(name)}:${epoch}:history`,
      openPositions: `${tag(name)}:${epoch}:open`,
      positionStates: `${tag(name)}:${epoch}:heads`,
      itemBodies: `${tag(name)}:${epoch}:bodies`,
      leaseExpiries: `${tag(name)}:${epoch}:leases`,
      leasedItems: `${tag(name)}:${epoch}:leased`,
      skippedPositions: `${tag(name)}:${epoch}:skipped`,
      metricSteps: `${tag(name)}:${epoch}:metrics`,
      metricSums: (step) => `${tag(name)}:${epoch}:metrics:${step}`,
      steps: `${tag(name)}:${epoch}:steps`,
      stepItems: (step) => `${tag(name)}:${epoch}:step:${step}`,
      stepItemBodies: (step) => `${tag(name)}:${epoch}:step-bodies:${step}`,
      pendingGroups: `${tag(name)}:${epoch}:pending`,
      buffer: `${tag(name)}:${epoch}:buffer`,
      recentGroups: `${tag(name)}:${epoch}:recent`,
      backlog: `${tag(name)}:${epoch}:stock`,
      groupSummaries: `${tag(name)}:${epoch}:facts`,
      retainedTexts: `${tag(name)}:${epoch}:texts`,
      failedGroups: `${tag(name)}:${epoch}:failed`,
      openBatches: `${tag(name)}:${epoch}:open-batches`,
      acknowledgedSteps: `${tag(name)}:${epoch}:acknowledged`,
      batch: (step) => `${tag(name)}:${epoch}:batch:${step}`,
      group: (id) => `${tag(name)}:${epoch}:group:${id}`,
    }),
    forDumps: (name, uuid) => ({
      state: `${tag(name)}dumps:${uuid}`,
      unwrittenFiles: `${tag(name)}dumps:${uuid}:unwritten`,
      writtenFiles: `${tag(name)}dumps:${uuid}:files`,
      pendingRecords: (kind) => `${tag(name)}dumps:${uuid}:${kind}`,
      fileRecords: (kind, number) => `${tag(name)}dumps:${uuid}:${kind}:${number}`,
    }),
  }
}
