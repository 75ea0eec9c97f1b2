import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { putRecord } from '../../src/storage/instance/backup-records.ts'
import { newUser, PASSWORD, signedIn } from '../support/browser.ts'
import { serverOfTest, type TestServer } from '../support/server.ts'

const PLACE = '/mnt/backup/svc'
const program = { command: process.execPath, args: ['-e', '0', '--'], env: {}, every: DAY }
const KEEP = { last: 1, daily: 2, weekly: 3, monthly: 4 }

async function administrator(server: TestServer) {
  const { username } = await newUser(server, 'admin')
  const browser = await signedIn(server, username)
  return {
    username,
    post: (action: string, params: object) =>
      browser.post(`/api/admin.php?action=${action}`, { current_password: PASSWORD, ...params }),
    state: async () => (await browser.get('/api/admin.php?action=backups')).json,
  }
}

async function world({ env = {}, place = PLACE }: { env?: Record<string, string>; place?: string } = {}) {
  const server = await serverOfTest({ env, program })
  if (place !== '') await server.set('backup.to', place)
  const logged = async (kind: string) =>
    (await server.local.domain.instance.audit.list({ limit: 100 }))
      .filter((entry) => entry.kind === kind)
      .map(({ actor, detail }) => ({ actor, detail: JSON.parse(detail!) as { schedule?: string } }))
  return { server, logged, ...(await administrator(server)) }
}

const pause = ({ database }: TestServer) =>
  database.write('instance', (tx) => putRecord(tx, 'paused', { at: Date.now() }))

describe('the schedule of backups', () => {
  test('is changed and turned off by an administrator, and says when the next backup is made', async () => {
    const { username, post, state, logged } = await world()
    const { status, json } = await post('set_backup_schedule', { schedule: ' 30  3 * * * ' })
    expect([status, json]).toMatchObject([200, { schedule: '30 3 * * *' }])
    expect(json['next_at']).toMatch(/:30:00/)
    expect(await state()).toMatchObject({ schedule: '30 3 * * *', place: PLACE, next_at: json['next_at'], fixed: [] })
    expect((await post('set_backup_schedule', { schedule: null })).json).toMatchObject({
      schedule: null,
      next_at: null,
    })
    expect(await state()).toMatchObject({ schedule: null })
    expect(await logged('backup.schedule')).toMatchObject([
      { actor: username, detail: { schedule: 'off', place: PLACE } },
      { actor: username, detail: { schedule: '30 3 * * *', place: PLACE } },
    ])
  })

  test.each(['never', '99 3 * * *', '0 0 30 2 *', '* * * * * *', '30 3 * * *\n* * * * *', '', 'x'.repeat(201), 7])(
    'is not %j',
    async (schedule) => {
      const { post, state } = await world()
      const { status, json } = await post('set_backup_schedule', { schedule })
      expect([status, json]).toMatchObject([
        400,
        { details: [{ path: expect.stringContaining('schedule') as string }] },
      ])
      expect(await state()).toMatchObject({ schedule: null })
    },
  )

  test('needs a folder, which no administrator names', async () => {
    const { post, state } = await world({ place: '' })
    const { status, json } = await post('set_backup_schedule', { schedule: '30 3 * * *', to: '/etc', place: '/etc' })
    expect([status, json['error']]).toEqual([409, expect.stringContaining('svc config set backup.to DIR')])
    expect(await state()).toMatchObject({ schedule: null, place: null })
    expect(await post('set_backup_schedule', { schedule: null })).toMatchObject({ status: 200 })
  })

  test('that is set by the environment is shown as fixed and stays', async () => {
    const { post, state } = await world({ env: { SVC_BACKUP_SCHEDULE: '0 1 * * *' } })
    const fixed = [{ setting: 'backup.schedule', by: 'SVC_BACKUP_SCHEDULE' }]
    expect(await state()).toMatchObject({ schedule: '0 1 * * *', fixed })
    const { status, json } = await post('set_backup_schedule', { schedule: null })
    expect([status, json['error']]).toEqual([409, expect.stringContaining('SVC_BACKUP_SCHEDULE')])
    expect(await state()).toMatchObject({ schedule: '0 1 * * *' })
  })

  test('rests after a restore until an administrator resumes it, once', async () => {
    const { server, username, post, state, logged } = await world()
    await post('set_backup_schedule', { schedule: '30 3 * * *' })
    await pause(server)
    expect(await state()).toMatchObject({ paused: true, next_at: null })
    const both = await Promise.all([post('resume_backup_schedule', {}), post('resume_backup_schedule', {})])
    expect(both.map(({ json }) => json['resumed']).toSorted()).toEqual([false, true])
    expect(await state()).toMatchObject({ paused: false, next_at: both[0].json['next_at'] })
    expect(await logged('backup.schedule')).toHaveLength(2)
    expect((await logged('backup.schedule'))[0]).toMatchObject({ actor: username })
  })

  test('is one of two that administrators set at the same moment', async () => {
    const { server, post, state, logged } = await world()
    const other = await administrator(server)
    const [one, two] = await Promise.all([
      post('set_backup_schedule', { schedule: '0 1 * * *' }),
      other.post('set_backup_schedule', { schedule: '0 2 * * *' }),
    ])
    expect([one.status, two.status]).toEqual([200, 200])
    const [last] = await logged('backup.schedule')
    expect((await state())['schedule']).toBe(last!.detail.schedule)
  })
})

describe('the retention of backups', () => {
  test('is changed by an administrator, and the audit log names what changed', async () => {
    const { username, post, state, logged } = await world()
    expect((await post('set_backup_retention', { ...KEEP, last: 3 })).json).toMatchObject({
      keep: { ...KEEP, last: 3 },
    })
    expect(await state()).toMatchObject({ keep: { ...KEEP, last: 3 } })
    expect(await post('set_backup_retention', { ...KEEP, last: 3 })).toMatchObject({ status: 200 })
    expect(await logged('backup.retention')).toMatchObject([
      { actor: username, detail: { keep_daily: 2, keep_weekly: 3, keep_monthly: 4 } },
    ])
  })

  test.each([{ last: -1 }, { daily: 10_001 }, { weekly: 1.5 }, { monthly: 'many' }, { last: undefined }])(
    'is not %j',
    async (wrong) => {
      const { post, state } = await world()
      expect(await post('set_backup_retention', { ...KEEP, ...wrong })).toMatchObject({ status: 400 })
      expect(await state()).toMatchObject({ keep: { last: 3, daily: 7, weekly: 4, monthly: 12 } })
    },
  )

  test('that is set by the environment stays, and the rest can be changed', async () => {
    const { post, state } = await world({ env: { SVC_BACKUP_KEEP_DAILY: '30' } })
    expect(await state()).toMatchObject({ fixed: [{ setting: 'backup.keep_daily', by: 'SVC_BACKUP_KEEP_DAILY' }] })
    const { status, json } = await post('set_backup_retention', KEEP)
    expect([status, json['error']]).toEqual([409, expect.stringContaining('SVC_BACKUP_KEEP_DAILY')])
    expect(await state()).toMatchObject({ keep: { last: 3, weekly: 4 } })
    expect(await post('set_backup_retention', { ...KEEP, daily: 30 })).toMatchObject({ status: 200 })
    expect(await state()).toMatchObject({ keep: { ...KEEP, daily: 30 } })
  })
})

const changes = [
  ['set_backup_schedule', { schedule: '30 3 * * *' }],
  ['set_backup_retention', KEEP],
  ['resume_backup_schedule', {}],
] as const

test.each(changes)('%s needs the password of an administrator', async (action, params) => {
  const { server, post, state } = await world()
  await pause(server)
  const before = await state()
  expect((await post(action, { ...params, current_password: 'difference engine' })).json).toMatchObject({
    code: 'invalid_credentials',
  })
  expect(await post(action, { ...params, current_password: undefined })).toMatchObject({ status: 400 })
  const { username } = await newUser(server)
  const user = await signedIn(server, username)
  const refused = await user.post(`/api/admin.php?action=${action}`, { ...params, current_password: PASSWORD })
  expect(refused).toMatchObject({ status: 403 })
  expect(await state()).toEqual(before)
})
