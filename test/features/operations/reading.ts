import { expect } from 'vitest'
import { until, type World } from '../../world.ts'

/** Prometheus text as its readers understand it. */
export interface Reading {
  types: Map<string, string>
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

export function readMetrics(text: string): Reading {
  const types = new Map<string, string>()
  const samples: Reading['samples'] = []
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line)
    if (type?.[1] && type[2]) types.set(type[1], type[2])
    const sample = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (!sample?.[1]) continue
    const labels = Object.fromEntries(
      [...(sample[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value ?? '']),
    )
    samples.push({ name: sample[1], labels, value: Number(sample[3]) })
  }
  return { types, samples }
}

/** The Prometheus text of a scrape within whose 2 s Redis answered. */
export async function scrapeText({ app }: Pick<World, 'app'>): Promise<string> {
  const { statusCode, headers, body } = await until(
    async () => app.inject('/metrics'),
    (answer) => answer.body.includes('rgs_redis_up 1') && answer.body.includes('rgs_workers'),
  )
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return body
}
