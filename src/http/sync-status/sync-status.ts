import { capabilities } from './capabilities.ts'
import { info } from './info.ts'
import { ping } from './ping.ts'

export const syncStatusHandlers = [ping, info, capabilities]
