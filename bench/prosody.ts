import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { eventually, freePort, isInstalled, run, withProgram } from './peers.ts'
import type { Workspace } from './workspace.ts'

const PROSODY = 'prosody'

/** Undefined if Prosody is installed. */
export const noProsody = (): string | undefined => (isInstalled(PROSODY) ? undefined : 'prosody is not installed')

/** Rooms with an archive, in Prosody's own storage: files that are not flushed. */
const configuration = (folder: string, port: number): string => `
run_as_root = true
daemonize = false
pidfile = "${folder}/prosody.pid"
data_path = "${folder}"
log = { error = "${folder}/error.log" }
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
modules_enabled = { "saslauth" }
modules_disabled = { "s2s", "tls", "offline" }
VirtualHost "localhost"
Component "rooms.localhost" "muc"
  modules_enabled = { "muc_mam" }
  muc_log_by_default = true
`

/** A member of a room of its own (XEP-0045). */
export interface RoomClient {
  /** Sends a message, and resolves when the room has sent it back, which it does after archiving it. */
  send(text: string): Promise<void>
  close(): void
}

const STREAM =
  "<?xml version='1.0'?><stream:stream to='localhost' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"

/** Signs in over a connection without TLS (RFC 6120), and enters a room. */
async function enter(port: number, user: string): Promise<RoomClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let waiting: { mark: string; resolve: () => void } | undefined
  const look = () => {
    if (!waiting || !received.includes(waiting.mark)) return
    received = ''
    waiting.resolve()
  }
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString()
    look()
  })
  const exchange = (sent: string, mark: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = { mark, resolve }
      socket.write(sent)
      look()
    })

  const secret = Buffer.from(`\0${user}\0secret`).toString('base64')
  const room = `${user}@rooms.localhost`
  await exchange(STREAM, '</stream:features>')
  await exchange(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${secret}</auth>`, '<success')
  await exchange(STREAM, '</stream:features>')
  await exchange("<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", '</iq>')
  await exchange(`<presence to='${room}/me'><x xmlns='http://jabber.org/protocol/muc'/></presence>`, '<subject')
  // A new room is locked until its owner accepts the standard configuration.
  await exchange(
    `<iq type='set' id='unlock' to='${room}'><query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='submit'/></query></iq>`,
    "id='unlock'",
  )
  let number = 0
  return {
    async send(text) {
      const id = `m${(number += 1)}`
      await exchange(`<message type='groupchat' id='${id}' to='${room}'><body>${text}</body></message>`, `id='${id}'`)
    },
    close: () => socket.destroy(),
  }
}

/** Runs `work` with clients of a new Prosody, each in a room of its own. */
export async function withProsody<T>(
  workspace: Workspace,
  clients: number,
  work: (clients: RoomClient[]) => Promise<T>,
): Promise<T> {
  const folder = workspace.folder('prosody')
  const port = await freePort()
  const file = join(folder, 'prosody.cfg.lua')
  writeFileSync(file, configuration(folder, port))
  const users = Array.from({ length: clients }, (_, number) => `user${number}`)
  for (const user of users) run('prosodyctl', ['--root', '--config', file, 'register', user, 'localhost', 'secret'])
  return withProgram(workspace, PROSODY, ['-F', '--config', file], async () => {
    const entered: RoomClient[] = []
    for (const user of users) entered.push(await eventually(() => enter(port, user)))
    const result = await work(entered)
    for (const client of entered) client.close()
    return result
  })
}
