import { delta } from './delta.ts'
import { initialSync } from './initial-sync.ts'
import { push } from './push.ts'

export const syncDataHandlers = [initialSync, delta, push]
