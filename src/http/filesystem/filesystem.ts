import { list } from './list.ts'
import { quota } from './quota.ts'

export const filesystemHandlers = [list, quota]
