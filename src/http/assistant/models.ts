import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'

export const models = handle(assistant.actions.models, async ({ domain }) => ({
  models: await domain.assistant.models(),
}))
