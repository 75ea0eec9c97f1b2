import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { eventually, freePort, isInstalled, withProgram } from './peers.ts'
import type { Workspace } from './workspace.ts'

const ETCD = 'etcd'

/** Undefined if etcd is installed. */
export const noEtcd = (): string | undefined => (isInstalled(ETCD) ? undefined : 'etcd is not installed')

/** Stores the values in one transaction, under new keys. */
export type StoreInEtcd = (keys: readonly string[], values: readonly string[]) => Promise<void>

const base64 = (value: string): string => Buffer.from(value).toString('base64')

/** Runs `work` with one connection to a new etcd, over its JSON interface. It flushes before it answers. */
export async function withEtcd<T>(workspace: Workspace, work: (store: StoreInEtcd) => Promise<T>): Promise<T> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const addresses = [
    ['--listen-client-urls', url, '--advertise-client-urls', url],
    [
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
      '--initial-cluster',
      `default=${peerUrl}`,
    ],
  ].flat()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  async function post(path: string, fields: object): Promise<string> {
    const sent = request(`${url}${path}`, { method: 'POST', agent }).end(JSON.stringify(fields))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(`etcd answered ${response.statusCode}: ${body}`)
    return body
  }

  return withProgram(workspace, ETCD, ['--data-dir', workspace.folder('etcd'), ...addresses], async () => {
    try {
      await eventually(() => post('/v3/kv/range', { key: base64('ready') }))
      return await work(async (keys, values) => {
        const success = keys.map((key, index) => ({ request_put: { key: base64(key), value: base64(values[index]!) } }))
        await post('/v3/kv/txn', { success })
      })
    } finally {
      agent.destroy()
    }
  })
}
