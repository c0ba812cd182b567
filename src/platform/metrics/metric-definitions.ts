/** Every metric that the server answers with: a stable set. docs/operations/metrics.md is held to this table by a test. */

interface MetricDefinition {
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  buckets?: readonly number[]
}

const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * Counters and histograms are of all processes together, and live in Redis. Gauges with a `process` label are of one
 * process; the others are read from Redis when they are asked for.
 */
export const METRICS = {
  rgs_build_info: { kind: 'gauge', help: 'Always 1; the versions are in the labels', labels: ['version', 'engine'] },

  rgs_http_requests_total: { kind: 'counter', help: 'HTTP answers', labels: ['method', 'route', 'status'] },
  rgs_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time to answer, with what the caller asked to wait (Prefer: wait)',
    labels: ['method', 'route'],
    buckets: DURATION_BUCKETS_S,
  },

  rgs_items_made_total: { kind: 'counter', help: 'Items made by the engine', labels: ['task'] },
  rgs_items_handed_out_total: { kind: 'counter', help: 'Items given to callers of POST /items', labels: ['task'] },
  rgs_item_make_seconds: {
    kind: 'histogram',
    help: 'Time to make an item; of several made at once, the mean',
    labels: ['task'],
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10],
  },
  rgs_verdicts_total: {
    kind: 'counter',
    help: 'Verdicts: fault is what the model did wrong, code why there is no score',
    labels: ['task', 'status', 'fault', 'code'],
  },
  rgs_groups_total: {
    kind: 'counter',
    help: 'Groups done by workers: scored or failed, and where they went',
    labels: ['status', 'destination'],
  },
  rgs_rollouts_total: { kind: 'counter', help: 'Rollouts of groups done by workers', labels: [] },
  rgs_reward: {
    kind: 'histogram',
    help: 'Rewards of scored rollouts',
    labels: [],
    buckets: [-1, -0.5, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  },

  rgs_queue_jobs: { kind: 'gauge', help: 'Jobs by state', labels: ['queue', 'state'] },
  rgs_queue_oldest_job_seconds: { kind: 'gauge', help: 'Age of the oldest job that is not done', labels: ['queue'] },
  rgs_jobs_total: {
    kind: 'counter',
    help: 'Tries of jobs by outcome: completed, retried, failed (no further try)',
    labels: ['queue', 'outcome'],
  },

  rgs_engine_up: { kind: 'gauge', help: '1 while the library can be used', labels: ['process', 'role'] },
  rgs_engine_hosts: { kind: 'gauge', help: 'Python hosts alive', labels: ['process', 'role', 'kind'] },
  rgs_engine_host_ends_total: {
    kind: 'counter',
    help: 'Hosts that ended in the middle of work: timeout (killed at its deadline), crashed, engine_ended',
    labels: ['kind', 'cause'],
  },

  rgs_runs: { kind: 'gauge', help: 'Runs there are', labels: [] },
  rgs_runs_shown: {
    kind: 'gauge',
    help: 'Runs that have series here: the latest to be used, up to a bound',
    labels: [],
  },
  rgs_run_groups: {
    kind: 'gauge',
    help: 'Groups that wait: queued, buffered, in_open_batches',
    labels: ['run', 'state'],
  },
  rgs_run_step: { kind: 'gauge', help: 'The latest step that a batch was composed for', labels: ['run'] },
  rgs_run_batch_rollouts: {
    kind: 'gauge',
    help: 'The next batch in the making: rollouts wanted, buffered, queued',
    labels: ['run', 'of'],
  },
  rgs_run_bytes: { kind: 'gauge', help: 'Size of the groups that wait', labels: ['run'] },
  rgs_run_oldest_queued_seconds: { kind: 'gauge', help: 'Age of the oldest group without verdicts', labels: ['run'] },
  rgs_dump_groups: {
    kind: 'gauge',
    help: 'Groups for dump files by kind (rollouts, failed): waiting for the next file, written, refused for want of room',
    labels: ['run', 'kind', 'state'],
  },
  rgs_dump_files_unwritten: {
    kind: 'gauge',
    help: 'Dump files whose groups are fixed and which are not on disk yet',
    labels: ['run', 'kind'],
  },
  rgs_dump_bytes: {
    kind: 'gauge',
    help: 'Bytes of all dumps, waiting and on disk, as DUMPS_MAX_BYTES counts',
    labels: [],
  },
  rgs_run_counts: {
    kind: 'gauge',
    help: 'Counters of a run since it began: items, groups, rollouts, scored_groups, failed_groups, no_signal_easy, …',
    labels: ['run', 'of'],
  },
  rgs_curriculum_difficulty: { kind: 'gauge', help: 'Where a curriculum stands', labels: ['run', 'task'] },
  rgs_curriculum_accuracy: { kind: 'gauge', help: 'Accuracy that moves it', labels: ['run', 'task'] },

  rgs_evals: { kind: 'gauge', help: 'Evals and collections that are kept', labels: ['kind'] },
  rgs_evals_active: { kind: 'gauge', help: 'Those that are queued or running', labels: ['kind', 'status'] },
  rgs_evals_active_samples: {
    kind: 'gauge',
    help: 'Samples of those: total, done, failed (done without a score)',
    labels: ['kind', 'of'],
  },

  rgs_redis_up: { kind: 'gauge', help: '1 if Redis answered this scrape', labels: [] },
  rgs_redis_ping_seconds: {
    kind: 'histogram',
    help: 'Time of a PING, asked by every process every two seconds',
    labels: [],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },

  rgs_process_up: { kind: 'gauge', help: '1 for each process that lives', labels: ['process', 'role'] },
  rgs_process_resident_bytes: { kind: 'gauge', help: 'Memory of the Node process', labels: ['process', 'role'] },
  rgs_process_cpu_seconds: { kind: 'gauge', help: 'Processor time of the Node process', labels: ['process', 'role'] },
  rgs_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Delay of the event loop over the last two seconds',
    labels: ['process', 'role', 'quantile'],
  },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS
type NamesOfKind<Kind extends MetricDefinition['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never
}[MetricName]
export type CounterName = NamesOfKind<'counter'>
export type GaugeName = NamesOfKind<'gauge'>
export type HistogramName = NamesOfKind<'histogram'>

/** A value for each label of a metric. */
export type MetricLabels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>

/** One value of a gauge. */
export interface GaugeValue {
  name: GaugeName
  labels: Record<string, string>
  value: number
}

export function gaugeValue<Name extends GaugeName>(name: Name, labels: MetricLabels<Name>, value: number): GaugeValue {
  return { name, labels, value }
}
