import { isFault } from '../../contract/errors.ts'
import { Exit } from '../exit.ts'

/** Parses a time of the component API (`YYYY-MM-DD HH:MM:SS`, UTC); ms since 1970. */
export const parseApiTime = (stamp: string): number => Date.parse(`${stamp.replace(' ', 'T')}Z`)

/** Awaits a request about a component; exit 5 if there is no such component or version. */
export async function explainNotFound<T>(call: Promise<T>, name: string, version?: number): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
    const what = version === undefined ? `component "${name}"` : `version ${version} of a component "${name}"`
    throw new Exit(5, `You have no ${what}: svc component list lists them.`, 'not_found')
  }
}
