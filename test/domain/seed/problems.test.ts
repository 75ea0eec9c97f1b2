import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { markImport } from '../../../src/storage/accounts/imports.ts'
import { beginRemoval } from '../../../src/storage/accounts/removals.ts'
import { openForTest } from '../../support/storage.ts'
import { makeWorld } from './world.ts'

const ADA = '{username: ada, password: analytical engine'
const user = (more: string) => `users: [${ADA}, ${more}}]`

/** Seeds below have a ▸ before everything that is wrong: the seed without them, and their places. */
function unmarked(marked: string): { seed: string; places: string[] } {
  const places: string[] = []
  const lines = marked.split('\n').map((line, index) => {
    const [first = '', ...rest] = line.split('▸')
    let text = first
    for (const part of rest) {
      places.push(`${index + 1}:${text.length + 1}`)
      text += part
    }
    return text
  })
  return { seed: lines.join('\n'), places }
}

describe('a seed is refused with the place of', () => {
  test.each<[string, string, string[]]>([
    ['a top that is no mapping', '▸- a\n', ['must be names with values (a mapping)']],
    ['an unknown part', '▸user: []\n', ['user: is not known here; did you mean users?']],
    ['another version', '▸version: 2\n', ['version: must be 1']],
    ['users that are no list', '▸users:\n  ada: {}\n', ['users: must be a list']],
    ['a user that is no mapping', 'users:\n  - ▸ada\n', ['users[0]: must be names with values (a mapping)']],
    ['a user without a name', 'users:\n  - ▸role: user\n', ['users[0]: has no username']],
    [
      'a user without a password',
      'users:\n  - ▸username: ada\n',
      ['users[0]: is a new account and needs one of password_file, password_hash, generate and password'],
    ],
    ['a name that is a number', 'users:\n  - ▸username: 5\n', ['users[0].username: must be a text, in quotes']],
    [
      'a name that is taken',
      `users:\n  - ${ADA}}\n  - {▸username: ADA, generate: true}\n`,
      ['users[1].username: is that of users[0] too'],
    ],
    [
      'a name of the audit log',
      'users:\n  - {▸username: System, generate: true}\n',
      ['users[0].username: the audit log uses the name "system" for others: choose another one'],
    ],
    ['a role', user('▸role: root'), [`users[0].role: must be user or admin`]],
    ['a quota', user('▸quota: -5'), [`users[0].quota: must be a size such as 10GB`]],
    [
      'a display name',
      user('▸display_name: "a\\nb"'),
      [`users[0].display_name: a display name has 1 to 100 characters, on one line`],
    ],
    [
      'two passwords',
      user('▸generate: true'),
      [`users[0].generate: cannot be combined with password: give the password in one way`],
    ],
    [
      'a hash',
      'users: [{username: ada, ▸password_hash: "$2b$10$abc"}]',
      ['users[0].password_hash: a password hash has the form $argon2id$v=19$m=…,t=…,p=…$…$…'],
    ],
    [
      'a hash that would cost too much',
      `users: [{username: ada, ▸password_hash: "$argon2id$v=19$m=4194304,t=2,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}"}]`,
      [
        'users[0].password_hash: the parameters of the password hash are out of range (m at most 262144, t and p at most 16)',
      ],
    ],
    [
      'a password file',
      'users: [{username: ada, ▸password_file: nowhere.txt}]',
      ['users[0].password_file: there is no nowhere.txt beside the seed'],
    ],
    [
      'a password everybody tries',
      'users: [{username: ada, ▸password: password1}]',
      ['users[0].password: that is one of the most common passwords; choose another one'],
    ],
    [
      'a table',
      user('rows: {▸svc_nodes: []}'),
      [`users[0].rows.svc_nodes: is not known here; did you mean svc_notes?`],
    ],
    ['a row without a key', user('rows: {svc_notes: [▸{title: x}]}'), [`users[0].rows.svc_notes[0]: has no key`]],
    [
      'a column',
      user('rows: {svc_finance: [{key: a, ▸kind: gift, ▸amount_cents: 1.5, ▸currency: eur, booked_on: 2026-02-30}]}'),
      [
        `users[0].rows.svc_finance[0].kind: must be income, expense or transfer`,
        `users[0].rows.svc_finance[0].amount_cents: must be a whole number from -1000000000000000 to 1000000000000000`,
        `users[0].rows.svc_finance[0].currency: must match ^[A-Z]{3}$`,
      ],
    ],
    [
      'a day that no calendar has',
      user('rows: {svc_tasks: [{key: a, title: x, ▸due_on: 2026-02-30}]}'),
      [`users[0].rows.svc_tasks[0].due_on: is not a day of the calendar`],
    ],
    [
      'a key given twice',
      user('rows: {svc_notes: [{key: a, title: x}, {▸key: a, title: y}]}'),
      [`users[0].rows.svc_notes[1].key: is that of svc_notes[0] too`],
    ],
    [
      'a component',
      user('components: [{id: x, type: js, code: "eval(1)"}, {id: y, ▸type: php, code: ""}]'),
      [`users[0].components[1].type: must be css, js or widget`],
    ],
    [
      'code that is blocked',
      user('components: [▸{id: x, type: js, code: "eval(1)"}, ▸{▸id: x, type: css}]'),
      [
        `users[0].components[0]: blockierter Code`,
        `users[0].components[1]: needs one of code and from`,
        `users[0].components[1].id: is that of components[0] too`,
      ],
    ],
    [
      'files',
      user('files: [{▸path: a, text: x}, ▸{path: /b}, {path: /c, ▸base64: "?"}, {path: /d, text: x, ▸mtime: soon}]'),
      [
        `users[0].files[0].path: the path must start with "/"`,
        `users[0].files[1]: needs one of text, base64, from and folder`,
        `users[0].files[2].base64: is not base64`,
        `users[0].files[3].mtime: must be a time such as 2026-11-21T09:30:00Z, not "soon"`,
      ],
    ],
    [
      'a file below a file',
      user('files: [{path: /a, text: x}, ▸{path: /a/b, text: x}, {path: /c, text: x}, ▸{▸path: /c, folder: true}]'),
      [
        `users[0].files[1]: /a/b is below /a, which is a file here`,
        `users[0].files[3]: /c is also what files[2] makes`,
        `users[0].files[3].path: is that of files[2] too`,
      ],
    ],
    [
      'files beyond the quota',
      user('quota: 4, ▸files: [{path: /a, text: hello}]'),
      [`users[0].files: need 5 B, and ada may store 4 B`],
    ],
    [
      'rooms',
      `users: [${ADA}}]\nrooms:\n  - {name: x, creator: ada, members: [▸bob], messages: [{id: a, ▸from: eve, text: hi, ▸reply_to: b}]}\n`,
      [
        'rooms[0].members[0]: there is no user "bob" who can sign in',
        'rooms[0].messages[0].from: eve is not in this room',
        'rooms[0].messages[0].reply_to: there is no message "b" above',
      ],
    ],
    [
      'an app',
      'apps:\n  - {slug: a, ▸name: "x\\ny"}\n  - {▸slug: Clock, name: x}\n  - {slug: clock, name: x, ▸app_path: "http://example.org"}\n',
      [
        'apps[0].name: must have 1 to 100 printable characters',
        'apps[1].slug: must consist of lower-case letters, digits and hyphens',
        'apps[2].app_path: must be a path below /apps/, or an https URL of an origin that apps.allowed_origins names',
      ],
    ],
    [
      'settings',
      'settings: {▸quota.default: lots, ▸host: x, ▸nothing: 1, ▸limits.enabled: {}}\n',
      [
        'settings.quota.default: must be a size such as 10GB, or none, not "lots"',
        'settings.host: is read when the server starts: it belongs into config.json',
        'settings.nothing: is no setting: svc config list shows them all',
        'settings.limits.enabled: must be a text, a number, true, false or a list of texts',
      ],
    ],
  ])('%s', async (_, marked, problems) => {
    const world = await makeWorld()
    const { seed, places } = unmarked(marked)
    expect(places).toHaveLength(problems.length)
    expect(await world.problems(seed)).toEqual(problems.map((problem, index) => `${places[index]} ${problem}`))
    expect(await world.local.domain.accounts.list()).toEqual([])
  })

  test('what stands beside it and cannot be taken', async () => {
    const world = await makeWorld()
    world.write('tree/inner/deep.txt', 'deep')
    world.write('../outside-of-the-seed.txt', 'no')
    symlinkSync('/etc/passwd', join(world.folder, 'link.txt'))
    symlinkSync('inner', join(world.folder, 'tree', 'other'))
    symlinkSync('tree', join(world.folder, 'way'))
    mkdirSync(join(world.folder, 'empty'))
    const froms = [
      '../outside-of-the-seed.txt',
      '/etc/passwd',
      'tree/../../x',
      'link.txt',
      'tree',
      'way/inner',
      'gone',
      'tree/inner/deep.txt/x',
      'empty',
    ]
    const files = froms.map((from, index) => `      - {path: /${index}, from: "${from}"}`)
    expect(
      await world.problems(`users:\n  - username: ada\n    generate: true\n    files:\n${files.join('\n')}\n`),
    ).toEqual([
      '5:20 users[0].files[0].from: must be a relative path inside the folder of the seed',
      '6:20 users[0].files[1].from: must be a relative path inside the folder of the seed',
      '7:20 users[0].files[2].from: must be a relative path inside the folder of the seed',
      '8:20 users[0].files[3].from: link.txt is a symbolic link or below one, and links are not followed',
      '9:20 users[0].files[4].from: tree/other is a symbolic link, and those are not followed',
      '10:20 users[0].files[5].from: way/inner is a symbolic link or below one, and links are not followed',
      '11:20 users[0].files[6].from: there is no gone beside the seed',
      '12:20 users[0].files[7].from: there is no tree/inner/deep.txt/x beside the seed',
    ])
  })

  test('the demotion that would leave nobody to administer the server', async () => {
    const world = await makeWorld()
    await world.seed(`users: [${ADA}, role: admin}]`)
    expect(await world.problems('users:\n  - username: ada\n    role: user\n')).toEqual([
      '3:5 users[0].role: would leave the server without an administrator',
    ])
    expect(
      await world.seed('users: [{username: ada, role: user}, {username: bob, generate: true, role: admin}]'),
    ).toEqual(['~ role of ada: admin → user', '+ user bob', '= 0'])
  })

  test('a password made of the names of its user or of the service', async () => {
    const world = await makeWorld({ SVC_PUBLIC_URL: 'https://cloud.example.org' })
    world.write('ada.txt', 'lovelace-1815')
    const seed = `users:
  - {username: ada, display_name: Ada Lovelace, password_file: ada.txt}
  - {username: bob, password: example-cloud-1}
`
    const refused = 'the password consists of well-known names; choose another one'
    expect(await world.problems(seed)).toEqual([
      `2:49 users[0].password_file: ${refused}`,
      `3:21 users[1].password: ${refused}`,
    ])
    await world.seed('users: [{username: ada, generate: true}, {username: bob, generate: true}]')
    await world.local.domain.accounts.update(await world.id('ada'), { display_name: 'Lovelace' })
    // The passwords of accounts that exist are not set.
    expect(await world.problems(seed)).toEqual([])
    const own = 'users: [{username: ada, password_file: ada.txt}]'
    expect(await world.problems(own, { resetPasswords: true })).toEqual([`1:25 users[0].password_file: ${refused}`])
  })

  test('an account that is being imported or removed', async () => {
    const world = await makeWorld()
    await world.seed(user('role: user'))
    const id = await world.id('ada')
    const seed = 'users: [{username: ada, role: admin}]'
    const database = openForTest(join(world.dataDir, 'svc.db'))
    await database.write('instance', (tx) => markImport(tx, id, 1))
    const problem = '1:10 users[0].username: is the name of an account'
    expect(await world.problems(seed)).toEqual([`${problem} whose import is not complete`])
    const removal = { user_id: id, heir_id: null, keeps_messages: 0 }
    await database.write('instance', (tx) => beginRemoval(tx, removal, 1))
    expect(await world.problems(seed)).toEqual([`${problem} that is being removed`])
  })

  test('no more problems than anybody reads', async () => {
    const world = await makeWorld()
    const rows = Array.from({ length: 3_000 }, () => '{title: x}').join()
    const problems = await world.problems(user(`rows: {svc_notes: [${rows}]}`))
    expect(problems).toHaveLength(51)
  })
})
