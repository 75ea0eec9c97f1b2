import { find } from './find.ts'

export const searchHandlers = [find]
