import { expect, it } from 'vitest'
import { openWorld } from '../../world.ts'

it('a run that is remembered is not taken for another of its name that came after it', async () => {
  const here = await openWorld()
  const elsewhere = await openWorld({ prefix: here.prefix })
  try {
    const { runs } = here.features.runs
    const set = (settings: object) => elsewhere.call('PUT', '/runs/again', settings)
    await set({ extraction: 'strict' })
    const first = await runs.require('again', undefined, { fresh: false })
    await elsewhere.call('DELETE', '/runs/again')
    await set({ extraction: 'last_tag' })
    const { epoch = 0, revision } = (await elsewhere.features.runs.runs.get('again')) ?? {}
    expect([first.revision, first.settings.extraction]).toEqual([revision, 'strict'])
    expect(await runs.get('again', { epoch: first.epoch, fresh: false })).toBe(first)
    expect((await runs.get('again', { epoch, fresh: false }))?.settings.extraction).toBe('last_tag')
    expect(await runs.get('again', { epoch: first.epoch, fresh: false })).toBeUndefined()
  } finally {
    await Promise.all([here.close(), elsewhere.close()])
  }
})
