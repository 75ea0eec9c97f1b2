import { mayInstallCode, type Caller } from '../domain/accounts/accounts.ts'
import type { ComponentEditor } from '../domain/desktop/desktop.ts'

export const editorOf = (caller: Caller): ComponentEditor => ({
  user: caller.user.id,
  allowsCode: mayInstallCode(caller),
})
