import type { FlagSpec } from '../command.ts'
import { usage } from '../exit.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The operation ID, by which the server recognises a repeated operation. */
export const opId: FlagSpec<string | undefined> = {
  summary: 'operation id, for safe repetition',
  value: 'UUID',
  parse(text) {
    if (!UUID.test(text)) throw usage(`must be a UUID such as ${crypto.randomUUID()}, not "${text}"`)
    return text
  },
}
