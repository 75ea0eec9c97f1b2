import { login } from './login.ts'

export const sessionLoginHandlers = [login]
