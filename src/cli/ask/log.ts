import { assistant } from '../../contract/assistant.ts'
import { printable } from '../../base/text.ts'
import { command, flag } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { changeText } from './change-text.ts'

export const log = command({
  name: 'ask log',
  summary: 'List what the assistant changed, newest first',
  details: 'Each entry is the changes of one answer, or one undo. svc ask undo undoes an entry.',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {
    limit: flag.integer('maximum number of entries (20)', 'N', 1, 100),
    before: flag.integer('only entries before this one', 'ID', 1),
  },
  examples: ['svc ask log', 'svc ask log --limit 5 --json'],
  async run({ io, api, flags }) {
    const { limit = 20, before } = flags
    const { changes, has_more } = await api.call(assistant.actions.changes, {
      limit,
      ...(before === undefined ? {} : { before }),
    })
    if (io.json) return io.print('', { changes, has_more })
    if (changes.length === 0) return io.info('The assistant has changed nothing.')
    const { paint } = io
    for (const { change_set_id, created_at, undoes, items } of changes) {
      const what = undoes === null ? '' : ` undo of ${undoes}`
      io.print(`${paint.bold(change_set_id)}  ${paint.dim(formatTime(Date.parse(created_at)))}${what}`, undefined)
      for (const { kind, target, undone } of items)
        io.print(`    ${changeText(kind)} ${printable(target)}${undone ? paint.dim(' (undone)') : ''}`, undefined)
    }
    if (has_more) io.info(`There are earlier ones: svc ask log --before ${changes.at(-1)!.change_set_id}.`)
  },
})
