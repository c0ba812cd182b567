/** Advances the dumps of all runs: freezes the files that are due and adds lost jobs again. */

import type { RunRepository } from '../../runs/repository.ts'
import type { Dumps } from '../dumps.ts'

export async function sweepDumps({ dumps, runs }: { dumps: Dumps; runs: RunRepository }): Promise<void> {
  await dumps.sweep(async (run) => (await runs.get(run))?.incarnation)
}
