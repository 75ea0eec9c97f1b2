import { isFault } from '../../contract/errors.ts'
import { Exit } from '../exit.ts'

// What the commands for one's own components share.

/** A time of the component API (`YYYY-MM-DD HH:MM:SS`, UTC), in milliseconds. */
export const parseApiTime = (stamp: string): number => Date.parse(`${stamp.replace(' ', 'T')}Z`)

/** Asks about a component; exit 5 where there is none of that name, or no such version. */
export async function explainNotFound<T>(call: Promise<T>, name: string, version?: number): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
    const what = version === undefined ? `component "${name}"` : `version ${version} of a component "${name}"`
    throw new Exit(5, `You have no ${what}: svc component list shows what there is.`, 'not_found')
  }
}
