import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**'], // `npm run test:cluster`
    globalSetup: ['test/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3, // on two cores: a third of the time goes by in waiting for processes and locks
  },
})
