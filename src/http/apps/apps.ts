import { createCustom } from './create-custom.ts'
import { create } from './create.ts'
import { deleteApp } from './delete.ts'
import { list } from './list.ts'
import { update } from './update.ts'

export const appsHandlers = [list, create, createCustom, update, deleteApp]
