/** Creates the grader of one process and its pool of scorer threads. */
import type { Engine } from '../engine/engine.ts'
import type { Platform } from '../platform/platform.ts'
import { Grader, type GradingStatistics, type LoadEntry } from './grader.ts'
import { ScorerThreadPool } from './scorer-thread-pool.ts'

interface GradingDeps {
  engine: Engine
  /** Loads the part of an item that the client never sees. */
  loadEntry: LoadEntry
  statistics: GradingStatistics
}

export interface Grading {
  grader: Grader
  close(): Promise<void>
}

export function createGrading({ config }: Platform, { engine, loadEntry, statistics }: GradingDeps): Grading {
  const threadPool = new ScorerThreadPool(config.PYTHON_WORKERS, config.SCORE_DEADLINE_MS)
  return {
    grader: new Grader({ engine, loadEntry, statistics, threadPool, maxAnswerChars: config.ANSWER_MAX_CHARS }),
    close: () => threadPool.close(),
  }
}
