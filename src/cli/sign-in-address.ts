import { httpUrl } from '../base/http-url.ts'
import type { Instance } from '../domain/instance/instance.ts'

/** Where people sign in once a server runs: `public_url`, or the address it listens on; undefined if it chooses its port. */
export async function signInAddress({ settings }: Pick<Instance, 'settings'>): Promise<string | undefined> {
  const { public_url, host, port } = await settings.values()
  return public_url || (port === 0 ? undefined : httpUrl(host, port))
}
