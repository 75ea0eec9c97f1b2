import { findingText } from '../../contract/finding-texts.ts'
import { environment } from '../config/environment.ts'
import { openSandbox } from '../command-sandbox.ts'
import { fine, warning, type Check } from './finding.ts'

export const sandboxCheck: Check = {
  id: 'sandbox',
  summary: 'the assistant can run commands in a sandbox, if it is allowed to',
  async runChecks({ domain }) {
    const { settings } = domain.instance
    const reason = await openSandbox(settings, environment).obstacle()
    if (reason === undefined) return fine(findingText('commands_sandboxed'))
    const { 'assistant.run_command': wanted } = await settings.values()
    return wanted === 'on'
      ? warning(reason, findingText('remedy_sandbox'))
      : fine(findingText('commands_off', { reason }))
  },
}
