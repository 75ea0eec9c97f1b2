import { download } from './download.ts'
import { list } from './list.ts'
import { restore } from './restore.ts'

export const versionsHandlers = [list, download, restore]
