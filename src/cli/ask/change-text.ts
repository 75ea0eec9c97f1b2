import type { Answer } from '../../contract/define.ts'
import type { assistant } from '../../contract/assistant.ts'

type Kind = Answer<typeof assistant.actions.changes>['changes'][number]['items'][number]['kind']

const TEXTS: Record<Kind, string> = {
  made: 'created',
  written: 'rewrote',
  moved: 'moved',
  trashed: 'deleted',
  row_added: 'added',
  row_changed: 'changed',
  row_removed: 'removed',
  component: 'switched component',
}

export const changeText = (kind: Kind): string => TEXTS[kind]
