import { environment } from '../environment.ts'
import { openSandbox } from '../sandbox.ts'
import { fine, warning, type Check } from './finding.ts'

/** Whether the assistant can run commands, where it should. */
export const sandboxCheck: Check = {
  id: 'sandbox',
  summary: 'the assistant can run commands in a sandbox, where it is told to',
  async look({ domain }) {
    const { settings } = domain.instance
    const reason = await openSandbox(settings, environment).obstacle()
    if (reason === undefined) return fine('commands of the assistant run in a sandbox')
    const { 'assistant.run_command': wanted } = await settings.values()
    return wanted === 'on'
      ? warning(reason, 'install bubblewrap and allow user namespaces, or svc config set assistant.run_command off')
      : fine(`the assistant runs no commands: ${reason}`)
  },
}
