import { describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../src/base/clock.ts'
import { auditEntries } from '../../../src/storage/instance/audit.ts'
import { IP, makeWorld, outcome, PASSWORD, refusal } from './world.ts'

async function withAda() {
  const world = await makeWorld()
  const ada = await world.accounts.create({ username: 'ada', password: PASSWORD })
  return { ...world, ada }
}

describe('a minted token', () => {
  test('signs in as its user until it ends, to the millisecond', async () => {
    const { accounts, ada, clock } = await withAda()
    const minted = await accounts.mintToken(ada.id, { ttl: 15 * MINUTE, name: 'nightly' })
    expect(minted).toMatchObject({ device_name: 'nightly', expires_at: clock.now() + 15 * MINUTE })
    expect(minted.token).toMatch(/^[0-9a-f]{64}$/)
    const caller = await accounts.authenticateDevice(minted.token, IP)
    expect(caller).toMatchObject({
      user: { id: ada.id },
      device: { token_id: minted.token_id, expires_at: minted.expires_at },
    })
    clock.pass(15 * MINUTE - 1)
    expect(await accounts.authenticateDevice(minted.token, IP)).toBeDefined()
    clock.pass(1)
    expect(await accounts.authenticateDevice(minted.token, IP)).toBeUndefined()
    expect(await accounts.devices(ada.id)).toEqual([])
  })

  test('is a device of its own each time, and neither displaces others nor is displaced', async () => {
    const { accounts, ada, token } = await withAda()
    const minted = await Promise.all(Array.from({ length: 25 }, () => accounts.mintToken(ada.id, { ttl: MINUTE })))
    expect(new Set(minted.map(({ device_id }) => device_id)).size).toBe(25)
    const devices = []
    for (let number = 0; number < 20; number += 1) devices.push(await token('ada', `laptop-${number}-of-ada`))
    for (const text of [...minted.map((one) => one.token), ...devices]) {
      expect(await accounts.authenticateDevice(text, IP)).toBeDefined()
    }
    const another = await token('ada', 'laptop-20-of-ada')
    expect(await accounts.authenticateDevice(devices[0]!, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(another, IP)).toBeDefined()
    expect(await accounts.devices(ada.id)).toHaveLength(45)
  })

  test('takes the place of the oldest of its name when only some of them stay', async () => {
    const { accounts, ada } = await withAda()
    const other = await accounts.mintToken(ada.id, { ttl: DAY, name: 'Other' })
    const mint = () => accounts.mintToken(ada.id, { ttl: DAY, name: 'Seed', keep: 2 })
    const [first, second, third] = [await mint(), await mint(), await mint()]
    expect(await accounts.authenticateDevice(first.token, IP)).toBeUndefined()
    for (const { token } of [other, second, third]) expect(await accounts.authenticateDevice(token, IP)).toBeDefined()
  })

  test('ends with the account, with a revocation, and with all devices', async () => {
    const { accounts, ada } = await withAda()
    const mint = () => accounts.mintToken(ada.id, { ttl: DAY })
    const [first, second, third] = [await mint(), await mint(), await mint()]
    await accounts.revokeDevice(ada.id, first.token_id)
    expect(await accounts.authenticateDevice(first.token, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(second.token, IP)).toBeDefined()
    expect(await accounts.revokeAllDevices(ada.id)).toBe(2)
    expect(await accounts.authenticateDevice(third.token, IP)).toBeUndefined()
    const fourth = await mint()
    expect(await accounts.disable(ada.id)).toEqual({ devices: 1, sessions: 0 })
    await accounts.enable(ada.id)
    expect(await accounts.authenticateDevice(fourth.token, IP)).toBeUndefined()
  })

  test('is refused to somebody disabled or gone, and then nothing is stored', async () => {
    const { accounts, ada, database } = await withAda()
    await accounts.disable(ada.id)
    const refused = await refusal(accounts.mintToken(ada.id, { ttl: MINUTE }))
    expect([refused.code, refused.message]).toEqual(['forbidden', '"ada" is disabled and gets no token.'])
    expect(await outcome(accounts.mintToken(999, { ttl: MINUTE }))).toBe('not_found')
    expect(await database.read.q.selectFrom('device_tokens').selectAll().execute()).toEqual([])
  })

  test.each([
    [{ ttl: 0 }],
    [{ ttl: -1 }],
    [{ ttl: 999 }],
    [{ ttl: 30 * DAY + 1 }],
    [{ ttl: NaN }],
    [{ ttl: MINUTE, name: ' ' }],
    [{ ttl: MINUTE, name: 'x'.repeat(201) }],
    [{ ttl: MINUTE, name: 'a\nb' }],
    [{ ttl: MINUTE, name: '\u001b[2Jevil' }],
    [{ ttl: MINUTE, name: 'half \ud800' }],
  ])('is refused for %j', async (wanted) => {
    const { accounts, ada } = await withAda()
    expect(await outcome(accounts.mintToken(ada.id, wanted))).toBe('bad_request')
    expect(await accounts.devices(ada.id)).toEqual([])
  })

  test('stands in the audit log, without the token', async () => {
    const { accounts, ada, database } = await withAda()
    const { token, ...minted } = await accounts.mintToken(ada.id, { ttl: 30 * DAY })
    const [entry] = await auditEntries(database.read, { kinds: ['token.minted'], limit: 2 })
    expect(entry).toMatchObject({ actor: 'system', target: 'ada' })
    expect(JSON.parse(entry!.detail!)).toEqual({ ...minted, expires_at: new Date(minted.expires_at).toISOString() })
    expect(JSON.stringify(await database.read.q.selectFrom('device_tokens').selectAll().execute())).not.toContain(token)
  })
})
