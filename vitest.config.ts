import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Where tests wait for processes, browsers and deadlines: begun last, they would keep the run waiting at its end. */
const SLOW = /\/(?:test\/(?:processes|failures|cli|dashboard|clients|engine|examples|verification)|packages\/cli)\//

/** Pure files run while the Python environment is made. */
class PureThenSlow extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A process that runs files is ended when the next file is of another project, so the projects must not take turns.
    const rank = ({ moduleId, project }: TestSpecification) =>
      project.name === 'pure' ? 0 : SLOW.test(moduleId) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

/** Of files that need neither Redis nor Python. */
const PURE = [
  'packages/{codec,contract,dashboard,scorers,task-tools}/test/**/*.test.ts',
  'test/{imports,tidy}.test.ts',
  'test/features/evals/{aggregator,guess-floors}.test.ts',
  'test/features/evals/{models,statistics}/**/*.test.ts',
  'test/features/runs/**/*-simulation.test.ts',
  'test/features/runs/diagnosis/**/*.test.ts',
  'test/grading/!(grader).test.ts',
  'test/http/{fast-parsers,rate-limit}.test.ts',
  'test/http/bodies/**/*.test.ts',
  'test/platform/metrics/**/*.test.ts',
  'test/verification/{mutants,regexes,trainers}.test.ts',
  'test/verification/soak/**/*.test.ts',
]

export const SERVER_TESTS = ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts']

export const MAX_WORKERS = 5 // on two cores: half of the time goes by in waiting for processes and locks

/** Options of each project. */
export const SHARED = {
  // Generous, for machines that are busy with something else: a test that waits for a fact goes on as soon as it holds.
  expect: { poll: { timeout: 40_000 } },
  testTimeout: 90_000,
  hookTimeout: 120_000,
  // Every file closes what it opens, so files share processes: loading the server anew for each file took 0.6 s of processor time.
  isolate: false,
  // A young generation large enough for what a request allocates, so that V8 copies little of it: 10 % of the processor time.
  execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
}

export default defineConfig({
  test: {
    sequence: { sequencer: PureThenSlow },
    maxWorkers: MAX_WORKERS,
    projects: [
      { test: { ...SHARED, name: 'pure', include: PURE } },
      {
        test: {
          ...SHARED,
          name: 'server',
          include: SERVER_TESTS,
          exclude: ['test/cluster/**', ...PURE], // the cluster: `npm run test:cluster`
          globalSetup: ['test/setup.ts'],
          setupFiles: ['test/ready.ts'],
        },
      },
    ],
  },
})
