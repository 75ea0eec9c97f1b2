import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { accountSettings } from '../../src/contract/account-settings.ts'
import { admin } from '../../src/contract/admin.ts'
import { apps } from '../../src/contract/apps.ts'
import { assistant } from '../../src/contract/assistant.ts'
import type { AnyAction } from '../../src/contract/contract.ts'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import { sessionLogin2fa } from '../../src/contract/session.ts'
import { setup } from '../../src/contract/setup.ts'
import type { Role } from '../../src/contract/shapes.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { trash } from '../../src/contract/trash.ts'
import { versions } from '../../src/contract/versions.ts'
import { insertConfirmation } from '../../src/storage/assistant/confirmations.ts'
import { enableSecondFactor, replaceBackupCodes, secondFactorOf } from '../../src/storage/accounts/second-factors.ts'
import { useModel } from './assistant.ts'
import { clientWith, type Account, type Client, type More } from './account.ts'
import { codeOf, newUser, openBrowser, PASSWORD, sessionOf } from './browser.ts'
import { channelOf, say } from './chat.ts'
import { modelServerOfTest } from './model-server.ts'
import { png } from './pictures.ts'
import { serverOfTest, type TestServer } from './server.ts'
import { tarOf } from './tar.ts'

/** Credentials of a caller. */
export type Way = 'a token' | 'a session' | 'nothing'

/** The ways in which an action may be called. */
export function waysOf({ auth }: AnyAction): Way[] {
  if (auth === 'anyone') return ['nothing']
  return [...(auth.device ? ['a token' as const] : []), ...(auth.session ? ['a session' as const] : [])]
}

/** The role that an action requires. */
const roleFor = ({ auth }: AnyAction): Role => (auth !== 'anyone' && auth.admin ? 'admin' : 'user')

export type Values = Record<string, unknown>

/** An account and a client with its credentials. */
export interface Caller {
  account: Account
  client: Client
}

/** A caller and the parameters of an action's example. */
export interface Ready extends Caller {
  params: Values
  more: More
}

/** The context in which an example is prepared: an account exists, but no client. */
interface Scene {
  server: TestServer
  account: Account
  action: AnyAction
}

type Maker = (scene: Scene) => Promise<{ params?: Values; more?: More; client?: Client }>

/** An account with the rows and files that the documentation's examples refer to. */
export async function prepared(server: TestServer, role: Role = 'user'): Promise<Account> {
  const account = await server.account({ role })
  await account.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea', content: 'Earl Grey' } })
  await account.put('/hello.txt', 'hello world\n')
  await account.put('/old.txt', 'old')
  return account
}

/** A client of an account with certain credentials. */
export async function clientBy(server: TestServer, account: Account, way: Way): Promise<Client> {
  if (way === 'a token') return account
  return clientWith(server.url, way === 'nothing' ? {} : { headers: await sessionOf(server, account.id) })
}

/** The values that the action accepts. */
const asked = ({ params }: AnyAction, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name in params.properties))

const inRoom: Maker = async ({ server, account, action }) => {
  const [member, guest] = [await server.account(), await server.account()]
  const room_id = await channelOf(account, member)
  const { message_id } = await say(account, room_id, 'Good morning')
  await say(account, room_id, 'Good night')
  return { params: asked(action, { room_id, message_id, user_id: member.id, user_ids: [guest.id] }) }
}

const atDesktop: Maker = async ({ account, action }) => {
  const { save, save_profile } = desktopComponents.actions
  await account.ask(save, save.example)
  const { profile_id } = await account.ask(save_profile, save_profile.example)
  return { params: asked(action, { profile_id }) }
}

const inTrash: Maker = async ({ account }) => {
  await account.ask(filesystem.actions.trash, { path: '/old.txt' })
  const { items } = await account.ask(trash.actions.list, {})
  return { params: { id: items[0]!.id } }
}

const withPicture: Maker = async ({ account }) => {
  await account.put('/picture.png', png(3, 2))
  return {}
}

const withVersion: Maker = async ({ account }) => {
  await account.put('/hello.txt', 'good bye\n')
  const listed = await account.ask(versions.actions.list, { path: '/hello.txt' })
  return { params: { version_id: listed.versions.find(({ current }) => !current)!.version_id } }
}

let slugs = 0
const newSlug = () => `example-${++slugs}`
const withSlug: Maker = () => Promise.resolve({ params: { slug: newSlug() } })

const withApp: Maker = async ({ account }) => {
  const { id } = await account.ask(apps.actions.create_custom, { name: 'My clock', slug: newSlug() })
  return { params: { id } }
}

const withAnotherDevice: Maker = async ({ account }) => {
  await account.another()
  const { devices } = await account.ask(syncAuth.actions.devices, {})
  return { params: { token_id: devices.find(({ current }) => !current)!.token_id } }
}

const withAnotherSession: Maker = async ({ server, account }) => {
  await sessionOf(server, account.id)
  const [session] = await server.local.domain.accounts.sessions.list(account.id)
  return { params: { session_id: session!.session_id } }
}

const withPassword: Maker = async ({ server, account }) => {
  await server.local.domain.accounts.setPassword(account.id, PASSWORD)
  return {}
}

const settingUp: Maker = async ({ server, account }) => {
  const { secret } = await server.local.domain.accounts.twoFactor.setUp(account.id, 'svc')
  return { params: { totp_code: codeOf(server, secret) } }
}

/** Enables the second factor with an unknown backup code, because hashing is slow. Returns a valid code. */
async function quickSecondFactor(server: TestServer, user: number): Promise<string> {
  const { secret } = await server.local.domain.accounts.twoFactor.setUp(user, 'svc')
  await server.database.write('instance', async (tx) => {
    const { pending_secret } = (await secondFactorOf(tx, user))!
    await enableSecondFactor(tx, user, pending_secret!, 0, server.clock.now())
    await replaceBackupCodes(tx, user, '00'.repeat(16), ['-'])
  })
  return codeOf(server, secret)
}

const withSecondFactor: Maker = async ({ server, account }) => ({
  params: { totp_code: await quickSecondFactor(server, account.id) },
})

const waitingDevice: Maker = async ({ server }) => {
  const { id, username } = await newUser(server)
  const code = await quickSecondFactor(server, id)
  const { login } = syncAuth.actions
  const { pending_token } = await clientWith(server.url).ask(login, { ...login.example, username, password: PASSWORD })
  return { params: { pending_token, code } }
}

const waitingBrowser: Maker = async ({ server }) => {
  const { id, username } = await newUser(server)
  const totp_code = await quickSecondFactor(server, id)
  const browser = openBrowser(server)
  await browser.login(username)
  return {
    params: { totp_code },
    more: { headers: { cookie: `PHPSESSID=${browser.cookie}` } },
  }
}

const withoutAdministrator: Maker = async () => {
  const { url, local } = await serverOfTest({ administered: false })
  const { token } = (await local.domain.accounts.setup.offer())!
  return { params: { token }, client: clientWith(url) }
}

const withModel: Maker = async ({ server, account, action }) => {
  await useModel(server, await modelServerOfTest())
  const { conversation_id } = await account.ask(assistant.actions.ask, { message: 'Good morning' })
  return { params: asked(action, { conversation_id }) }
}

const withConfirmation: Maker = async (scene) => {
  const { server, account } = scene
  await withModel(scene)
  const [conversation] = (await account.ask(assistant.actions.conversations, {})).conversations
  const question = [
    { role: 'system', text: '' },
    { role: 'user', text: 'Do it' },
  ]
  const due = [{ id: 'call-0', name: 'nothing', arguments: '{}' }]
  const worker = { model: 'talker', messages: [...question, { role: 'assistant', text: '', calls: due }], question: 1 }
  const run = { worker, due, rounds: 1, calls: 0, tainted: true, said: '', actions: [], tokens: 0 }
  const row = {
    id: `confirmation-${account.id}`,
    user_id: account.id,
    conversation_id: conversation!.conversation_id,
    state: JSON.stringify({ run, chat: 'talker' }),
    expires_at: server.clock.now() + 1,
  }
  await server.database.write('instance', (tx) => insertConfirmation(tx, row))
  return { params: { confirmation_id: row.id } }
}

const withChanges: Maker = async ({ server, account }) => {
  const write = { name: 'write_file', arguments: { path: '/changed.txt', content: 'changed' } }
  const model = await modelServerOfTest()
  await useModel(server, model)
  model.will({ calls: [write] }, { text: 'Done.' })
  const { change_set_id } = await account.ask(assistant.actions.ask, { message: 'Write it' })
  return { params: { change_set_id } }
}

/** An administrator and another user, with a second factor if the action is about it. */
const withSomebody: Maker = async (scene) => {
  const { server, action } = scene
  const { id } = await server.account()
  if ('current_password' in action.params.properties) await withPassword(scene)
  if (action === admin.actions.bypass_2fa) await quickSecondFactor(server, id)
  return { params: { user_id: id } }
}

let newcomers = 0
const newcomer: Maker = () => Promise.resolve({ params: { username: `newcomer-${++newcomers}` } })

const restorers = new Set<() => Promise<void>>()

/** Undoes what examples did to the server, before the test ends. */
export async function restoreService(): Promise<void> {
  for (const restore of restorers) await restore()
}

/** For actions on the whole server, which are undone afterwards. */
const forAWhile: Maker = async ({ server }) => {
  const { settings } = server.local.domain.instance
  const before = await settings.maintenance()
  const restore = async (): Promise<void> => {
    if (!restorers.delete(restore)) return
    await server.set('quota.default', undefined)
    await server.set('#maintenance', before)
  }
  restorers.add(restore)
  onTestFinished(restore)
  return {}
}

const idleBackups: Maker = async ({ server }) => {
  const { jobs } = server.local.domain.backups
  const idle = async (): Promise<void> => {
    while ((await jobs.last())?.isRunning) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await idle()
  const restore = async (): Promise<void> => {
    if (restorers.delete(restore)) await idle()
  }
  restorers.add(restore)
  await server.set('backup.to', join(server.dataDir, 'backups'))
  return {}
}

const withPlaceOfBackups: Maker = async (scene) => {
  const { server } = scene
  await withPassword(scene)
  const { settings } = server.local.domain.instance
  const before = (await settings.values())['backup.to']
  const restore = async (): Promise<void> => {
    if (!restorers.delete(restore)) return
    await server.set('backup.schedule', undefined)
    await server.set('backup.to', before)
  }
  restorers.add(restore)
  onTestFinished(restore)
  await server.set('backup.to', join(server.dataDir, 'backups'))
  return {}
}

const each = (endpoint: { actions: object }, make: Maker): [AnyAction, Maker][] =>
  Object.values(endpoint.actions).map((action) => [action as AnyAction, make])

/** Preparations of examples besides rows and files; later entries override earlier ones. */
const makers = new Map<AnyAction, Maker>([
  [syncAuth.actions.revoke, withAnotherDevice],
  [syncAuth.actions.login_2fa, waitingDevice],
  [sessionLogin2fa.actions.login_2fa, waitingBrowser],
  [setup.actions.setup, withoutAdministrator],
  [accountSettings.actions.revoke_device, withAnotherDevice],
  [accountSettings.actions.revoke_session, withAnotherSession],
  [accountSettings.actions.change_password, withPassword],
  [accountSettings.actions.enable_2fa, settingUp],
  [accountSettings.actions.disable_2fa, withSecondFactor],
  [accountSettings.actions.regenerate_backup_codes, withSecondFactor],
  [filesystem.actions.thumbnail, withPicture],
  [trash.actions.list, inTrash],
  [trash.actions.restore, inTrash],
  [trash.actions.delete, inTrash],
  [trash.actions.empty, inTrash],
  [versions.actions.download, withVersion],
  [versions.actions.restore, withVersion],
  ...each(teamChat, inRoom),
  ...each(desktopComponents, atDesktop),
  ...each(assistant, withModel),
  [assistant.actions.confirm, withConfirmation],
  [assistant.actions.changes, withChanges],
  [assistant.actions.undo, withChanges],
  [apps.actions.create, withSlug],
  [apps.actions.create_custom, withSlug],
  [apps.actions.update, withApp],
  [apps.actions.delete, withApp],
  ...each(admin, withSomebody),
  [admin.actions.create_user, newcomer],
  [admin.actions.set_default_quota, forAWhile],
  [admin.actions.start_backup_job, idleBackups],
  [admin.actions.stop_backup_job, idleBackups],
  [admin.actions.set_backup_schedule, withPlaceOfBackups],
  [admin.actions.begin_maintenance, forAWhile],
  [admin.actions.end_maintenance, forAWhile],
])

const bodies = new Map<AnyAction, () => More>([
  [syncFiles.actions.upload, () => ({ body: 'some content' })],
  [
    syncFiles.actions.upload_batch,
    () => ({
      body: tarOf({ name: 'notes/new.txt', content: 'some content' }),
      headers: { 'content-type': 'application/x-tar' },
    }),
  ],
  [
    filesystem.actions.upload,
    () => {
      const body = new FormData()
      body.append('file', new Blob(['some content']), 'new.txt')
      return { body }
    },
  ],
])

/** The binary body of an action, if it has one. */
export const bodyOf = (action: AnyAction): More => bodies.get(action)?.() ?? {}

/** A client that may call the action, with one of its credentials. */
export async function callerOf(server: TestServer, action: AnyAction, way = waysOf(action)[0]!): Promise<Caller> {
  const account = await prepared(server, roleFor(action))
  return { account, client: await clientBy(server, account, way) }
}

/** Prepares the example of an action, and a client that may call it. */
export async function prepare(
  server: TestServer,
  action: AnyAction,
  way = waysOf(action)[0]!,
  role: Role = roleFor(action),
): Promise<Ready> {
  const account = await prepared(server, role)
  const { params, more, client } = (await makers.get(action)?.({ server, account, action })) ?? {}
  return {
    account,
    client: client ?? (await clientBy(server, account, way)),
    params: { ...action.example, ...params },
    more: { ...bodyOf(action), ...more },
  }
}
