import { devices } from './devices.ts'
import { login2fa } from './login-2fa.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { revoke } from './revoke.ts'
import { validate } from './validate.ts'

export const syncAuthHandlers = [login, login2fa, validate, devices, revoke, logout]
