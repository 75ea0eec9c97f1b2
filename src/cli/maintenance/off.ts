import { command } from '../command.ts'
import { documentOf } from './state-text.ts'

export const off = command({
  name: 'maintenance off',
  summary: 'End maintenance',
  needs: 'domain',
  args: {},
  flags: {},
  examples: ['svc maintenance off'],
  async run({ io, domain: { instance } }) {
    const wasOn = await instance.maintenance.end()
    const words = wasOn
      ? 'Maintenance is over: all users can sign in again.'
      : 'There was no maintenance; nothing was changed.'
    io.print(words, { ...documentOf(undefined), was_on: wasOn })
  },
})
