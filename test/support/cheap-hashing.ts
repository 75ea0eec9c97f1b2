import type { Plugin } from 'vite'

/** What hashes cost in src, by file, and the least that is possible. */
const COSTS = [
  ['src/domain/accounts/passwords.ts', 'memoryCost: 19_456, timeCost: 2', 'memoryCost: 8, timeCost: 1'],
  ['src/domain/accounts/backup-codes.ts', 'N: 2 ** 14', 'N: 2'],
] as const

/**
 * Passwords and backup codes are hashed at the lowest cost in the processes of the tests, where hashing took four fifths of some
 * files. The built command keeps its costs.
 */
export const cheapHashing: Plugin = {
  name: 'cheap-hashing',
  enforce: 'pre',
  transform(code, id) {
    const [, cost, least] = COSTS.find(([path]) => id.split('?')[0]!.endsWith(path)) ?? []
    if (cost === undefined) return undefined
    if (!code.includes(cost))
      throw new Error(`${id} no longer contains "${cost}": correct test/support/cheap-hashing.ts.`)
    return code.replace(cost, least!)
  },
}
