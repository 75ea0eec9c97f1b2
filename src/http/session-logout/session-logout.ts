import { logout } from './logout.ts'

export const sessionLogoutHandlers = [logout]
