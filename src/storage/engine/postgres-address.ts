// Addresses of Postgres with one host or several: the same form as libpq's (PostgreSQL documentation, "Specifying Multiple Hosts").

const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]*)(\/[^?#\s]*)?(\?[^#\s]*)?$/
const WANTED = /([?&])target_session_attrs=([^&]*)(?:&|$)/

/** svc writes to the primary, whatever is asked for. */
const FITTING = new Set(['any', 'read-write', 'primary'])

export interface PostgresAddress {
  /** One address per host, in the given order. */
  urls: readonly string[]
  /** What may be shown: hosts with their ports, separated by commas. */
  hosts: string
  /** The path: a slash and the name of the database. */
  path: string
}

/** Parses `postgres://USER:PASSWORD@HOST[:PORT][,HOST[:PORT]…]/NAME?…`; undefined if it is no such address. */
export function parsePostgresAddress(text: string): PostgresAddress | undefined {
  const [, start, hosts, path = '', query = ''] = FORM.exec(text) ?? []
  if (start === undefined || hosts === undefined) return undefined
  const wanted = WANTED.exec(query)?.[2]
  if (wanted !== undefined && !FITTING.has(wanted)) return undefined
  const rest = query.replace(WANTED, '$1').replace(/[?&]$/, '')
  const urls = hosts.split(',').map((host) => `${start}${host}${path}${rest}`)
  const areComplete = urls.length === 1 || hosts.split(',').every((host) => host !== '')
  return areComplete && urls.every((url) => URL.canParse(url)) ? { urls, hosts, path } : undefined
}

/** Like `parsePostgresAddress`, but throws. The message contains no password. */
export function postgresAddress(text: string): PostgresAddress {
  const address = parsePostgresAddress(text)
  if (!address) throw new Error('The address of the database is not of the form postgres://USER:PASSWORD@HOST/NAME.')
  return address
}
