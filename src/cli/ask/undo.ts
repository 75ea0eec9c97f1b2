import { assistant } from '../../contract/assistant.ts'
import { printable } from '../../base/text.ts'
import { cancelled, command, flag } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { changeText } from './change-text.ts'
import { explainNotFound } from './not-found.ts'
import { parseId } from './id-argument.ts'

export const undo = command({
  name: 'ask undo',
  summary: 'Undo what an answer of the assistant changed',
  details:
    'The changes are undone from last to first, each completely or not at all. What has changed since is left as it is and listed, with exit code 3. ' +
    'An undo is itself an entry of svc ask log and can be undone.',
  needs: 'server',
  args: { id: 'number of the entry, from svc ask log' },
  flags: { yes: flag.yes },
  examples: ['svc ask undo 12', 'svc ask undo 12 --yes --json'],
  async run({ io, api, args, flags }): Promise<ExitCode> {
    const change_set_id = parseId('An entry', args.id)
    if (!flags.yes && !(await io.confirm(`Undo what entry ${change_set_id} changed?`))) throw cancelled()
    const { items, change_set_id: undo } = await api
      .call(assistant.actions.undo, { change_set_id }, { repeatable: true })
      .catch(explainNotFound('entry', change_set_id))
    const refused = items.filter(({ status }) => status === 'refused')
    if (io.json) io.print('', { change_set_id: undo, items })
    for (const { kind, target, status, reason = '' } of io.json ? [] : items) {
      const what = `${changeText(kind)} ${printable(target)}`
      if (status === 'refused') io.warn(`not undone: ${what}. ${printable(reason)}`)
      else io.print(`${status === 'undone' ? 'taken back' : 'taken back before'}: ${what}`, undefined)
    }
    return refused.length > 0 ? 3 : 0
  },
})
