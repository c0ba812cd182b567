import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Where tests wait for processes, browsers and deadlines: begun last, they would keep the run waiting at its end. */
const SLOW = /\/(?:test\/(?:processes|failures|cli|dashboard|clients|engine|examples|verification)|packages\/cli)\//

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/cluster/**'], // `npm run test:cluster`
    globalSetup: ['test/setup.ts'],
    sequence: { sequencer: SlowFirst },
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Every file closes what it opens, so files share processes: loading the server anew for each file took 0.6 s of processor time.
    isolate: false,
    maxWorkers: 4, // on two cores: half of the time goes by in waiting for processes and locks
  },
})
