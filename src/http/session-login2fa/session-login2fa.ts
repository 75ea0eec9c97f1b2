import { login2fa } from './login-2fa.ts'

export const sessionLogin2faHandlers = [login2fa]
