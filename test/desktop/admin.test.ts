import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { backupTarget } from '../../src/wiring/backups/backup-locations.ts'
import { putRecord } from '../../src/storage/instance/backup-records.ts'
import { noPassphrases } from '../support/backups.ts'
import { PASSWORD, secondFactor } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { folderOfTest } from '../support/server.ts'

let world: DesktopWorld
/** Stands in for svc: creating a backup goes on until it is stopped, and everything else fails. */
const PROGRAM = `
  if (process.argv.includes('create')) {
    process.send({ done: 40, total: 100 })
    process.on('SIGTERM', () => process.exit(130))
    setInterval(() => {}, 1000)
  } else {
    console.error(JSON.stringify({ error: 'The passphrase is wrong.' }))
    process.exitCode = 1
  }`
const program = { command: process.execPath, args: ['-e', PROGRAM, '--'], env: {}, every: DAY }
beforeAll(async () => void (world = await startWorld({ program })))
afterAll(() => world?.close())

const OWN = 'Your own password'

/** An administrator before the open app. */
async function atWork(options = {}) {
  const root = await world.person('admin')
  const visited = await world.enter(root, options)
  const admin = await visited.open('admin', 'Administration')
  const go = (name: string) =>
    admin.getByRole('navigation', { name: 'Administration' }).getByRole('button', { name, exact: true }).click()
  const dialog = admin.getByRole('dialog')
  return {
    root,
    visited,
    admin,
    go,
    dialog,
    /** Opens one account from the list. */
    async openUser(username: string) {
      await admin.getByRole('searchbox').fill(username)
      const one = admin.locator('tbody tr').filter({ hasText: username })
      await expect.poll(() => admin.locator('tbody tr').count()).toBe(1)
      await one.getByRole('button').click()
      await admin.getByRole('heading', { name: 'Actions' }).waitFor()
    },
    act: (name: string) => admin.getByRole('button', { name, exact: true }).click(),
    /** Answers the open dialog, with the own password where it asks for it. */
    async answer(name: string, password?: string) {
      if (password !== undefined) await dialog.getByLabel(OWN).fill(password)
      await dialog.locator('footer').getByRole('button', { name, exact: true }).click()
    },
    told: (text: string) => admin.locator('.toast').filter({ hasText: text }).waitFor(),
  }
}

/** A second try of a test adds another account. */
let graces = 0

describe('users', () => {
  test('are added, found, edited, disabled and let in again', async () => {
    const { visited, admin, dialog, act, answer, told, root } = await atWork()
    const { accounts } = world.server.local.domain
    const grace = `grace${++graces}`
    await act('Add a user')
    await dialog.getByLabel('User name').fill('grace hopper')
    await dialog.getByLabel('Display name').fill('<b>Grace</b>')
    await dialog.getByRole('button', { name: 'Generate' }).click()
    const password = await dialog.getByLabel('New password').inputValue()
    expect(password).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
    await dialog.getByRole('combobox', { name: 'Quota' }).selectOption('own')
    await dialog.getByLabel('Gigabytes').fill('1.5')
    expect(await visited.flaws()).toEqual([])
    await answer('Add')
    await dialog.getByText('The first character must be a letter or a digit.').waitFor()
    await dialog.getByLabel('User name').fill(grace)
    await answer('Add')
    await told(`${grace} was added.`)
    // The new account is shown, as text.
    await admin.getByRole('heading', { name: '<b>Grace</b>' }).waitFor()
    await admin.getByText('0 B of 1.5 GB').waitFor()
    const { id } = await accounts.byName(grace)
    expect((await accounts.details(grace)).quota_bytes).toBe(1.5 * 1024 ** 3)

    const theirs = await world.visit()
    await theirs.login(grace, password)
    await theirs.page.getByRole('navigation', { name: 'Dock' }).waitFor()

    await act('Edit')
    await dialog.getByLabel('Display name').fill('Grace Hopper')
    await dialog.getByRole('combobox', { name: 'Quota' }).selectOption('default')
    await answer('Save')
    await told('Saved.')
    await admin.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    expect((await accounts.details(grace)).quota_bytes).toBeNull()

    await act('Disable')
    await dialog.getByText('one browser and 0 devices are signed out at once').waitFor()
    expect(await visited.flaws()).toEqual([])
    await answer('Disable')
    await told(`${grace} can no longer sign in.`)
    await admin.getByText('Not signed in.').waitFor()
    const again = await world.visit()
    await again.login(grace, password)
    await again.page.getByText('The user name or the password is wrong.').waitFor()

    await act('Enable')
    await told(`${grace} can sign in again.`)
    await act('All users')
    await admin.getByRole('combobox', { name: 'Show' }).selectOption('administrators')
    await expect
      .poll(() => admin.locator('tbody tr').allInnerTexts())
      .toEqual(expect.arrayContaining([expect.stringContaining(root.username)]))
    await expect.poll(() => admin.locator('tbody tr').filter({ hasText: grace }).count()).toBe(0)
    expect((await accounts.details(grace)).id).toBe(id)
    expectQuiet(visited)
  })

  test('are locked out of nothing by themselves, and asked for their password before others are', async () => {
    const { visited, admin, dialog, act, answer, told, root, openUser } = await atWork()
    const { accounts } = world.server.local.domain
    const person = await world.person()
    await openUser(root.username)
    await admin.getByText('This is your own account').waitFor()
    for (const name of ['Disable', 'Make regular user', 'Remove …', 'Set password'])
      await expect.poll(() => admin.getByRole('button', { name, exact: true }).count()).toBe(0)
    await act('All users')

    await secondFactor(world.server, person.id)
    await openUser(person.username)
    await act('Bypass code')
    await answer('Create code', 'something else')
    await dialog.getByText('The password is wrong.').waitFor()
    expect(await visited.flaws()).toEqual([])
    await answer('Create code', PASSWORD)
    await dialog.getByText('The code is shown only now.').waitFor()
    expect(await dialog.locator('code').innerText()).toMatch(/^[a-z0-9]{5} [a-z0-9]{5}$/i)
    await answer('Close')
    await admin.getByText('a bypass code until').waitFor()

    await act('Reset second factor')
    await answer('Reset second factor', PASSWORD)
    await told('no longer has a second factor.')
    expect((await accounts.twoFactor.status(person.id)).enabled).toBe(false)

    await act('Make administrator')
    await answer('Make administrator', PASSWORD)
    await told('Saved.')
    await admin.getByRole('button', { name: 'Make regular user' }).waitFor()
    expect((await accounts.details(person.username)).role).toBe('admin')
    expectQuiet(visited)
  })

  test('are signed out, get another password, and are removed by name, with an heir for the files', async () => {
    const { visited, admin, dialog, act, answer, told, openUser } = await atWork()
    const { accounts } = world.server.local.domain
    for (let count = 0; count < 101; count += 1) await world.server.account()
    const heir = await world.server.account({ username: 'heir' })
    const leaver = await world.server.account({ username: 'leaver' })
    await leaver.put('/plans/engine.txt', 'brass')
    await accounts.mintToken(leaver.id, { ttl: DAY, name: '<i>Laptop</i>' })
    await openUser('leaver')
    await admin.getByText('<i>Laptop</i>').waitFor()
    await act('Sign out everywhere')
    await dialog.getByRole('switch', { name: '2 devices as well' }).check()
    await answer('Sign out everywhere')
    await told('leaver was signed out.')
    await expect.poll(() => accounts.devices(leaver.id)).toEqual([])

    await accounts.mintToken(leaver.id, { ttl: DAY, name: 'Tablet' })
    await act('All users')
    await openUser('leaver')
    await admin.getByText('Tablet').waitFor()
    await act('Set password')
    await dialog.getByLabel('New password').fill('password')
    await answer('Set password', PASSWORD)
    await dialog.getByText('too short or too common').waitFor()
    await dialog.getByLabel('New password').fill('difference engine no. 2')
    await answer('Set password', PASSWORD)
    await told('leaver has a new password.')
    expect(await accounts.devices(leaver.id)).toEqual([])

    await act('Remove …')
    await dialog.getByText('1 (5 B)').waitFor()
    // Too many to choose from: whoever is meant is searched.
    await dialog.getByRole('searchbox', { name: 'Search for a user to receive the files' }).fill('heir')
    await dialog.getByRole('combobox', { name: 'Transfer files to' }).selectOption(String(heir.id))
    await dialog.getByText('heir receives them in “/Files of leaver”').waitFor()
    await dialog.getByLabel(OWN).fill(PASSWORD)
    expect(await dialog.getByRole('button', { name: 'Remove permanently' }).isDisabled()).toBe(true)
    await dialog.getByLabel('To confirm, type “leaver”').fill('leaver')
    expect(await visited.flaws()).toEqual([])
    await answer('Remove permanently')
    await told('leaver was removed.')
    await admin.locator('tbody', { hasText: 'leaver' }).waitFor({ state: 'detached' })
    expect((await heir.manifest()).files.map(({ path }) => path)).toEqual(['/Files of leaver/plans/engine.txt'])
    expectQuiet(visited)
  })
})

test('a user is removed whose chat messages stay, and others see at once that they are from a former user', async () => {
  const { visited, dialog, act, answer, told, openUser } = await atWork()
  const { chat } = world.server.local.domain
  const [leaver, reader] = [await world.person(), await world.person()]
  const author = ({ id, username }: typeof leaver) =>
    ({ id, username, display_name: username, role: 'user', avatar_color: '#3b5bdb' }) as const
  const channel = { name: 'Engines', type: 'channel' as const, participants: [reader.id] }
  const { room_id } = await chat.createRoom(author(leaver), channel)
  const direct = { name: `${reader.username}, ${leaver.username}`, type: 'dm' as const, participants: [reader.id] }
  await chat.createRoom(author(leaver), direct)
  for (const content of ['Good morning', 'Good night']) await chat.send(author(leaver), { room_id, content })
  const theirs = await world.enter(reader, { locale: 'de-DE' })
  await theirs.page.keyboard.press('Control+k')
  await theirs.page.getByRole('searchbox', { name: 'Alles durchsuchen' }).fill('Chat')
  await theirs.page.keyboard.press('Enter')
  const frame = await theirs.app('chat')
  await frame.getByRole('button', { name: /Engines/ }).click()
  const message = frame.locator('.message', { hasText: 'Good morning' })
  await message.waitFor()

  await openUser(leaver.username)
  await act('Remove …')
  await dialog.locator('dl').getByText('Messages', { exact: true }).waitFor()
  await dialog.getByRole('switch', { name: 'Keep the chat messages, without the name' }).check()
  await dialog.getByText('Messages kept, with “Former user” as their author: 2.').waitFor()
  expect(await dialog.locator('dl').getByText('Messages', { exact: true }).count()).toBe(0)
  expect(await visited.flaws()).toEqual([])
  await dialog.getByLabel(OWN).fill(PASSWORD)
  await dialog.getByLabel(/^To confirm, type/).fill(leaver.username)
  await answer('Remove permanently')
  await told(`${leaver.username} was removed.`)

  await message.getByText('Ehemaliger Benutzer').waitFor()
  await frame.locator('.room-name', { hasText: 'Ehemaliger Benutzer' }).waitFor()
  await frame.getByText('Ehemaliger Benutzer: Good night').waitFor()
  await expect.poll(() => frame.locator('#root').innerText()).not.toContain(leaver.username)
  expect(await theirs.flaws()).toEqual([])
  expectQuiet(visited)
  expectQuiet(theirs)
})

test('quotas are shown, and the default one is changed', async () => {
  const { visited, admin, go, dialog, act, answer, told } = await atWork()
  const ada = await world.server.account({ username: 'quota-ada', quota: 100 })
  await ada.put('/a.txt', 'x'.repeat(95))
  await go('Storage')
  await admin.getByRole('combobox', { name: 'Show' }).selectOption('80')
  await expect.poll(() => admin.locator('tbody tr').count()).toBe(1)
  await admin.getByText('95 B of 100 B').waitFor()
  expect(await visited.flaws()).toEqual([])
  await act('Change the default quota')
  await dialog.getByRole('combobox', { name: 'Quota' }).selectOption('own')
  await dialog.getByLabel('Gigabytes').fill('many')
  await dialog.getByText('Enter a number.').waitFor()
  await dialog.getByLabel('Gigabytes').fill('20')
  await answer('Save')
  await told('Saved.')
  await admin.locator('.facts').getByText('20 GB', { exact: true }).waitFor()
  const { settings } = world.server.local.domain.instance
  expect((await settings.values())['quota.default']).toBe(20 * 1024 ** 3)
  await act('quota-ada')
  await admin.getByRole('heading', { name: 'quota-ada' }).waitFor()
  await admin.getByText('95 B of 100 B').waitFor()
  await go('Users')
  await admin.getByRole('button', { name: 'Add a user' }).waitFor()
  expectQuiet(visited)
})

test('maintenance closes the service for another browser, and ends', async () => {
  const { visited, root, admin, go, dialog, act, answer, told } = await atWork()
  const person = await world.person()
  const theirs = await world.enter(person)
  await go('Maintenance')
  await admin.getByText('maintenance is off').waitFor()
  try {
    // Read-only first: nobody is signed out.
    await admin.getByRole('combobox', { name: 'Mode' }).selectOption('read_only')
    await act('Start')
    await dialog.getByText('Changes are refused until maintenance ends.').waitFor()
    await answer('Start')
    await admin.getByText('The service is read-only. Only administrators can change anything.').waitFor()
    await admin.getByRole('combobox', { name: 'Mode' }).selectOption('closed')
    await admin.getByLabel('Message for users').fill('New disks <until> noon.')
    await act('Change')
    await dialog.getByText('All browsers are signed out at once, including yours.').waitFor()
    expect(await visited.flaws()).toEqual([])
    await answer('Change')
    // The own session ended with all others; whoever signs in again goes on where they were.
    await visited.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await visited.page.getByRole('button', { name: 'Sign in' }).click()
    await admin.getByText('Only administrators can sign in.').first().waitFor()
    await admin.getByText('New disks <until> noon.').first().waitFor()

    const stranger = await world.visit()
    await stranger.login(person.username)
    await stranger.page.getByText('New disks <until> noon.').waitFor()
    await theirs.page.reload()
    await theirs.page.getByRole('textbox', { name: 'Password' }).waitFor()

    await act('End maintenance')
    await told('Maintenance is off.')
    await stranger.login(person.username)
    await stranger.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  } finally {
    await world.server.local.domain.instance.maintenance.end()
  }
  await go('Audit log')
  await admin.getByRole('combobox', { name: 'Category' }).selectOption('maintenance')
  await expect
    .poll(() => admin.locator('tbody tr').allInnerTexts())
    .toEqual([
      expect.stringMatching(new RegExp(`Maintenance ended.*${root.username}`, 's')),
      expect.stringMatching(new RegExp(`Maintenance started or changed.*${root.username}`, 's')),
      expect.stringMatching(new RegExp(`Maintenance started or changed.*${root.username}`, 's')),
    ])
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('backups, checks and apps are shown', async () => {
  const { visited, admin, go, dialog, act, answer, told } = await atWork()
  await go('Backups')
  await admin.getByText('none yet').waitFor()
  await admin.getByText('svc backup restore latest').waitFor()
  expect(await visited.flaws()).toEqual([])
  await go('Health')
  await admin.getByText('The database keeps what it acknowledges').waitFor()
  await admin.getByText('There is a recent backup').waitFor()
  expect(await visited.flaws()).toEqual([])
  await go('Apps')
  const places = admin.getByRole('switch', { name: 'Places is enabled for users' })
  await places.click()
  await dialog.getByText('The app is hidden from all users at once').waitFor()
  await answer('Disable')
  await told('Places is disabled.')
  await expect.poll(() => places.isChecked()).toBe(false)
  expect(await visited.flaws()).toEqual([])
  await places.click()
  await told('Places is enabled.')
  await expect.poll(() => places.isChecked()).toBe(true)
  await act('Refresh')
  expectQuiet(visited)
})

test('a backup is created with progress and stopped, and a failed test restore says why', async () => {
  const { server } = world
  const place = join(await folderOfTest(), 'backups')
  const { domain, directory } = server.local
  const target = await backupTarget(
    { domain, directory },
    { to: place, encrypt: false, startsOver: false },
    noPassphrases,
  )
  await domain.backups.create(target)
  await server.set('backup.to', place)
  const { visited, admin, go, dialog, act, answer } = await atWork()
  await go('Backups')
  const status = admin.locator('section > [role=status]')
  // Marks the element: a live region is only read if it stays the same one.
  await status.evaluate((element) => element.setAttribute('data-first', ''))
  const focused = () => admin.evaluate<string>('document.activeElement.textContent')
  await admin.getByRole('button', { name: 'Create backup now' }).press('Enter')
  await admin.getByText('A backup is being created.').waitFor()
  expect(await focused()).toBe('A backup is being created.')
  await admin.getByRole('progressbar', { name: 'Progress' }).waitFor()
  await admin.getByText('40 B of 100 B').waitFor()
  expect(await visited.flaws()).toEqual([])
  await admin.getByRole('button', { name: 'Stop', exact: true }).press('Enter')
  await admin.getByText('stopped', { exact: true }).waitFor()
  expect(await status.getAttribute('data-first')).toBe('')
  expect(await status.innerText()).toBe('Backup stopped')
  expect(await focused()).toBe('Backup stopped')
  await act('Test restore')
  await answer('Cancel')
  await expect.poll(focused).toBe('Test restore')
  await act('Test restore')
  await dialog.getByLabel('Passphrase of the backups').fill('analytical engine')
  expect(await visited.flaws()).toEqual([])
  await answer('Start')
  await admin.getByText('The passphrase is wrong.').waitFor()
  await admin.getByText('failed', { exact: true }).waitFor()
  await expect.poll(focused).toMatch(/^Test restore|^A backup is being restored as a test/)
  await act('Check all backups')
  await expect.poll(async () => (await domain.backups.jobs.last())?.kind).toBe('verify')
  await server.set('backup.to', undefined)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('a folder with backups of which the installation knows none is not called empty', async () => {
  const { server } = world
  const place = join(await folderOfTest(), 'backups')
  const { domain, directory } = server.local
  const options = { to: place, encrypt: false, startsOver: false }
  const { manifest } = await domain.backups.create(await backupTarget({ domain, directory }, options, noPassphrases))
  // As after a restore.
  await server.database.write('instance', (tx) => putRecord(tx, 'done', undefined))
  await server.set('backup.to', place)
  onTestFinished(() => server.set('backup.to', undefined))
  const { visited, admin, go } = await atWork()
  await go('Backups')
  await admin.getByText('none by this installation yet').waitFor()
  await admin.getByText(manifest.id).waitFor()
  expectQuiet(visited)
})

test('the schedule and the retention of backups are changed, and a paused schedule is resumed', async () => {
  const { server } = world
  const { backups, instance } = server.local.domain
  const { visited, admin, go, dialog, act, answer, told } = await atWork()
  await go('Backups')
  await admin.getByText('svc config set backup.to DIR').waitFor()
  expect(await admin.getByRole('button', { name: 'Change schedule' }).count()).toBe(0)
  await server.set('backup.to', '/mnt/backup/svc')
  await act('Refresh')
  await act('Change schedule')
  await dialog.getByLabel('Create a backup').selectOption('weekly')
  await dialog.getByLabel('Day').selectOption({ label: 'Sunday' })
  await dialog.getByLabel('Time').fill('04:05')
  expect(await visited.flaws()).toEqual([])
  await answer('Save', 'difference engine')
  await dialog.getByText('The password is wrong.').waitFor()
  await answer('Save', PASSWORD)
  await told('Saved. The next backup is created on')
  await admin.getByText('Sunday at 04:05').waitFor()
  expect((await instance.settings.values())['backup.schedule']).toBe('5 4 * * 0')

  await act('Change schedule')
  await dialog.getByLabel('Create a backup').selectOption('own')
  await dialog.getByLabel('Cron expression').fill('0 0 30 2 *')
  await answer('Save', PASSWORD)
  await dialog.getByText('This is not a time that ever comes.').waitFor()
  await dialog.getByLabel('Cron expression').fill('*/10 8-18 * * 1-5')
  await answer('Save', PASSWORD)
  await admin.locator('code').filter({ hasText: '*/10 8-18 * * 1-5' }).waitFor()

  await act('Change retention')
  await dialog.getByLabel('Days with a backup each').fill('many')
  await dialog.getByText('Enter a whole number from 0 to 10,000.').waitFor()
  await dialog.getByLabel('Days with a backup each').fill('30')
  expect(await visited.flaws()).toEqual([])
  await answer('Save', PASSWORD)
  await admin.getByText('the last 3, then one of each of 30 days').waitFor()
  expect(await backups.keep()).toMatchObject({ last: 3, daily: 30 })

  await server.database.write('instance', (tx) => putRecord(tx, 'paused', { at: Date.now() }))
  await act('Refresh')
  await act('Resume schedule')
  await dialog.getByText('both would write to /mnt/backup/svc').waitFor()
  await answer('Resume schedule', PASSWORD)
  await expect.poll(() => backups.isPaused()).toBe(false)
  await expect.poll(() => admin.evaluate<string>('document.activeElement.textContent')).toBe('Change schedule')
  await go('Audit log')
  await admin.getByText('Daily backups: 30').waitFor()
  for (const name of ['backup.to', 'backup.schedule', 'backup.keep_daily'] as const) await server.set(name, undefined)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('the audit log goes on where the page ends', async () => {
  const { visited, admin, go } = await atWork()
  const { audit } = world.server.local.domain.instance
  await world.server.database.write('instance', async (tx) => {
    for (let count = 0; count < 70; count += 1) await audit.record(tx, { kind: 'seed.applied', detail: { count } })
  })
  await go('Audit log')
  await admin.getByRole('combobox', { name: 'Category' }).selectOption('seed')
  await expect.poll(() => admin.locator('tbody tr').count()).toBe(50)
  await admin.getByRole('button', { name: 'Show older entries' }).click()
  await expect.poll(() => admin.locator('tbody tr').count()).toBe(70)
  expect(await admin.locator('tbody tr').last().innerText()).toContain('Number: 0')
  await admin.getByRole('searchbox').fill('nobody-at-all')
  await admin.getByText('No entries found').waitFor()
  expectQuiet(visited)
})

test('an ordinary user has neither the app nor what it asks for', async () => {
  const person = await world.person()
  const { page } = await world.enter(person)
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('Administration')
  await expect.poll(() => page.getByRole('dialog').getByRole('button', { name: 'Administration' }).count()).toBe(0)
  const status = await page.evaluate(async () => (await fetch('/api/admin.php?action=users')).status)
  expect(status).toBe(403)
})

test('works on a phone, in German and in the dark', async () => {
  const root = await world.person('admin')
  const visited = await world.enter(root, {
    locale: 'de-DE',
    colorScheme: 'dark',
    viewport: { width: 390, height: 800 },
  })
  const { page } = visited
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('Administration')
  await page.keyboard.press('Enter')
  const admin = await visited.app('admin')
  await admin.getByRole('button', { name: 'Benutzer hinzufügen' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  for (const name of ['Speicher', 'Wartung', 'Sicherungen', 'Systemzustand', 'Audit-Protokoll', 'Apps']) {
    await admin.getByRole('button', { name: 'Zurück', exact: true }).click()
    await admin.getByRole('navigation', { name: 'Administration' }).getByRole('button', { name, exact: true }).click()
    await admin.getByRole('heading', { name, exact: true }).waitFor()
    await admin.locator('.admin-page > *').first().waitFor()
    await expect.poll(() => admin.locator('.loading').count()).toBe(0)
    const overflow = await admin.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect([name, overflow]).toEqual([name, 0])
    expect(await visited.flaws()).toEqual([])
  }
  expectQuiet(visited)
})
