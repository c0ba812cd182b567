/** Grading of one process: the grader and the threads that run scorers beside the event loop. */
import type { Engine } from '../engine/engine.ts'
import type { Platform } from '../platform/platform.ts'
import { Grader, type GradingStatistics, type LoadEntry } from './grader.ts'
import { ScorerThreadPool } from './scorer-thread-pool.ts'

interface GradingDeps {
  engine: Engine
  /** The secret part of an item. */
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
