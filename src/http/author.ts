import { mayInstallCode, type Caller } from '../domain/accounts/accounts.ts'
import type { Author } from '../domain/desktop/desktop.ts'

/** The caller as the author of components. */
export const authorOf = (caller: Caller): Author => ({ user: caller.user.id, allowsCode: mayInstallCode(caller) })
