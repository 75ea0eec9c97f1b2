import { cancelled, command, flag } from '../command.ts'
import { counted } from '../counted.ts'
import { patienceOf } from '../patience.ts'

export const empty = command({
  name: 'trash empty',
  summary: 'Remove everything in the trash for good',
  needs: 'server',
  args: {},
  flags: { yes: flag.yes },
  examples: ['svc trash empty', 'svc trash empty --yes'],
  async run({ io, api, flags }) {
    const { trash } = await import('../../contract/trash.ts')
    const { patiently } = await import('../../client/patience.ts')
    const patience = patienceOf(io)
    const { items } = await patiently(() => api.call(trash.actions.list, {}), patience)
    if (items.length === 0) {
      io.say('The trash is empty.', { deleted: 0 })
      return
    }
    if (!flags.yes && !(await io.confirm(`Remove ${counted(items.length, 'entry', 'entries')} for good?`)))
      throw cancelled()
    const { deleted } = await patiently(() => api.call(trash.actions.empty, {}), patience)
    io.say(`Removed ${counted(deleted, 'entry', 'entries')} for good.`, { deleted })
  },
})
