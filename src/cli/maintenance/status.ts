import { command } from '../command.ts'
import { documentOf, stateText } from './state-text.ts'

export const status = command({
  name: 'maintenance status',
  summary: 'Show whether maintenance is on, until when and with which message',
  details: 'Exit code 0 when it is off, 3 when it is on.',
  needs: 'domain',
  args: {},
  flags: {},
  examples: ['svc maintenance status', 'svc maintenance status --json'],
  async run({ io, domain: { instance } }) {
    const declared = await instance.settings.maintenance()
    io.print(declared ? stateText(declared) : 'Maintenance is off.', documentOf(declared))
    return declared ? 3 : 0
  },
})
