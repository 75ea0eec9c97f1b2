import { delta } from './delta.ts'
import { list } from './list.ts'
import { push } from './push.ts'

export const rowsHandlers = [list, delta, push]
