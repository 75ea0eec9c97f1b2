import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contract } from '../../src/contract/contract.ts'
import { root } from './repository.ts'

const dashed = (name: string) => name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Where the handler of an action stands: `syncAuth`, `login_2fa` is src/http/sync-auth/login-2fa.ts. */
const handlers = Object.entries(contract).flatMap(([endpoint, { actions }]) =>
  Object.keys(actions).map((action) => `src/http/${dashed(endpoint)}/${dashed(action)}.ts`),
)

test.each(handlers)('the action has its handler %s', (file) => {
  expect(existsSync(join(root, file)), `write ${file}`).toBe(true)
})
