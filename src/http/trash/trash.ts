import { remove } from './delete.ts'
import { empty } from './empty.ts'
import { list } from './list.ts'
import { restore } from './restore.ts'

export const trashHandlers = [list, restore, remove, empty]
