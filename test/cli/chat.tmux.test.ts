import { writeFileSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Account } from '../support/account.ts'
import { channelOf, heard, reactTo, say, unreadIn } from '../support/chat.ts'
import { until } from '../support/chat-command.ts'
import { folderOfTest, serverOfTest, startServer } from '../support/server.ts'
import { hasTmux, openTmux, type Pane } from '../support/tmux.ts'

// `svc chat` as it is built, in terminals as people have them.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** A sequence that sets another colour than the terminal's own. */
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[(?:\d+;)*3[0-8](?:;\d+)*m/

if (!hasTmux) console.warn('tmux is not installed: the screen of svc chat is not tried.')

const begin = async (
  open: ReturnType<typeof openTmux>,
  {
    url,
    account,
    words = [],
    env = {},
  }: { url: string; account: Account; words?: string[]; env?: Record<string, string> },
): Promise<Pane> => {
  const home = await folderOfTest()
  return open(account.username, { HOME: home, SVC_URL: url, SVC_TOKEN: account.token, ...env }, [
    process.execPath,
    program,
    'chat',
    ...words,
  ])
}

async function world() {
  const server = await serverOfTest()
  const ada = await server.account({ username: 'ada' })
  const bob = await server.account({ username: 'bob' })
  const room = await channelOf(ada, bob)
  return { server, url: server.url, ada, bob, room, open: openTmux(await folderOfTest()) }
}

describe.skipIf(!hasTmux)('two people, each at a terminal', () => {
  test('talk, see each other type, edit, react and reply', async () => {
    const { url, ada, bob, room, open } = await world()
    await say(ada, room, 'Good morning')
    const a = await begin(open, { url, account: ada })
    const b = await begin(open, { url, account: bob, words: ['engines'] })
    await a.shows(/Good morning/)
    await b.shows(/─ New messages ─[^]*Good morning/)

    await b.type('The mill is :tad')
    await a.shows(/bob is typing…/)
    await b.shows(/🎉 :tada:.*Tab completes/)
    await b.press('Tab')
    await b.type('@a')
    await b.press('Tab', 'M-Enter')
    await b.type('second line')
    await b.shows(/› The mill is 🎉 @ada ?\n +second line/)
    await b.press('Enter')
    await a.shows(/bob +\d\d:\d\d\n.*The mill is 🎉 @ada ?\n.*second line/)
    expect((await heard(ada, room)).at(-1)).toMatchObject({
      content: 'The mill is 🎉 @ada \nsecond line',
      username: 'bob',
    })

    // The last own message, changed.
    await b.press('Up')
    await b.shows(/── Editing ─/)
    await b.press('C-u')
    await b.type('third line')
    await b.press('Enter')
    await a.shows(/third line \(edited\)/)
    await b.shows(/third line \(edited\)/)

    // The newest message, chosen and reacted to, then answered.
    await a.press('Tab')
    await a.shows(/r reply · e edit/)
    await a.type('+')
    await a.shows(/Reacting to bob/)
    await a.type('+1')
    await a.press('Enter')
    await b.shows(/👍 1/)
    await a.press('Tab')
    await a.type('r')
    await a.type('Splendid')
    await a.press('Enter')
    await b.shows(/↳ bob: The mill is[^]*Splendid/)

    // Deleted only after it was asked.
    await a.press('Tab')
    await a.type('d')
    await a.shows(/Delete this message for everyone\? y or n/)
    await a.type('n')
    await a.press('Tab')
    await a.type('d')
    await a.type('y')
    await until(
      'it is deleted',
      async () => (await heard(ada, room)).length === 2,
      () => '',
    )
    await b.shows(/^(?![^]*Splendid)/)
    await a.press('C-d')
    await a.shows(/^ended with 0\n/)
  })

  test('scroll back, change rooms with their drafts, find rooms and messages', async () => {
    const { url, ada, bob, room, open } = await world()
    for (let number = 1; number <= 90; number++) await say(ada, room, `message ${number}.`)
    const a = await begin(open, { url, account: ada })
    await a.shows(/message 90\./)
    await a.press('PageUp')
    await a.shows(/message 72\.\n──/)
    const hidden = async () => /↓ (\d+) more lines/.exec(await a.screen())?.[1]
    const middle = async () => (await a.screen()).split('\n').slice(1, 20)
    const [before, below] = [await middle(), await hidden()]
    await say(bob, room, 'while you were scrolled up')
    await until(
      'there is more below',
      async () => (await hidden()) !== below,
      () => '',
    )
    expect(await middle()).toEqual(before)
    await until(
      'the first message is there',
      async () => {
        await a.press('PageUp')
        return /room begins[^]*message 1\./.test(await a.screen())
      },
      () => '',
    )
    await a.press('End')
    await a.shows(/scrolled up/)

    await a.type('a draft')
    await a.type(' of mine')
    await a.press('C-g')
    await a.type('bob')
    await a.shows(/› @bob[^]*Find: bob/)
    await a.press('Enter')
    await a.shows(/@bob[^]*This is where the room begins/)
    expect(await a.screen()).not.toContain('a draft')
    await a.type('/search "message 2."')
    await a.press('Enter')
    await a.shows(/There are none\./)
    // No shell is there to go back to.
    await a.press('C-z')
    await a.shows(/There are none\./)
    // What follows an escape at once belongs to it.
    await a.press('Escape')
    await a.shows(/Enter sends/)
    await a.press('C-f')
    await a.type('message 2.')
    await a.press('Enter')
    await a.shows(/› .*Engines ada: message 2\./)
    await a.press('Enter')
    await a.shows(/message 2\.[^]*r reply/)
    await a.press('Escape')
    await a.shows(/Enter sends/)
    await a.shows(/› a draft of mine/)
    await a.press('C-c', 'C-c', 'C-c')
    await a.shows(/^ended with 0\n/)
  })

  test('fits every window, and shows nothing but text', async () => {
    const { url, ada, bob, room, open } = await world()
    await say(ada, room, 'red \u001b[31m\u001b]0;title\u0007\u001b[2J \u202egnp.exe \u009b5n end')
    await say(ada, room, `**bold** \`code\` 日本語のとても長いテキスト ${'e\u0301'.repeat(10)} 👩‍👩‍👧‍👦 ${'long'.repeat(60)}`)
    const b = await begin(open, { url, account: bob })
    await b.shows(/red �\[31m�\]0;title��\[2J �gnp\.exe �5n end/)
    await b.shows(/ bold code 日本語の/)
    // In a low window the title goes first, then the keys, the rule, and the messages; what is written stays.
    for (const [columns, rows, screen] of [
      [40, 12, /longlong[^]*› ?\n.*Enter sends/],
      [20, 5, /^ E.*bob\n +[long]+\n─+\n›\n Enter.*\n$/],
      [20, 4, /^ +[long]+\n─+\n›\n Enter.*\n$/],
      [8, 3, /^ +[long]+\n─+\n›\n$/],
      [8, 2, /^ +[long]+\n›\n$/],
      [8, 1, /^›\n$/],
      [200, 50, /longlong[^]*› ?\n.*Enter sends/],
      [80, 24, /longlong[^]*› ?\n.*Enter sends/],
    ] as const) {
      await b.resize(columns, rows)
      await b.shows(screen)
    }
    await b.press('F1')
    await b.resize(40, 14)
    await b.shows(/complete @name,\n +:emoji and \/command/)
    const plain = await begin(open, { url, account: ada, env: { NO_COLOR: '1' } })
    await plain.shows(/red/)
    expect(await plain.screen(true)).not.toMatch(COLOUR)
    expect(await b.screen(true)).toMatch(COLOUR)
  })

  test('outlasts a restart of the server, and sends what was written meanwhile', async () => {
    const dataDir = await folderOfTest()
    const first = await startServer({ dataDir })
    const ada = await first.account({ username: 'ada' })
    const room = await channelOf(ada)
    await say(ada, room, 'before')
    const a = await begin(openTmux(await folderOfTest()), { url: first.url, account: ada })
    await a.shows(/before/)
    await first.close()
    await a.shows(/ · trying again/)
    await a.type('in the dark')
    await a.press('Enter')
    await a.shows(/in the dark \(sending\)/)
    const again = await startServer({ dataDir, flags: { port: new URL(first.url).port } })
    try {
      await a.shows(/in the dark\n[^]*Enter sends/)
      expect(await a.screen()).not.toContain('trying again')
    } finally {
      await a.press('C-d')
      await a.shows(/^ended with 0\n/)
      await again.close()
    }
  })

  test('files go up and down, the editor writes, and a command hears of mentions', async () => {
    const { url, ada, bob, room, open } = await world()
    const other = await channelOf(ada, bob)
    const folder = await folderOfTest()
    const path = (name: string) => join(folder, name)
    writeFileSync(path('plan.txt'), 'the plan')
    writeFileSync(path('editor'), '#!/bin/sh\nprintf "written\\nelsewhere" > "$1"\n')
    writeFileSync(
      path('notify'),
      `#!/bin/sh\n{ echo "$# $SVC_CHAT_FROM in $SVC_CHAT_ROOM"; cat; } > ${path('told')}.part\nmv ${path('told')}.part ${path('told')}\n`,
    )
    for (const name of ['editor', 'notify']) await chmod(path(name), 0o700)
    const words = [`#${room}`, '--notify', path('notify')]
    const a = await begin(open, { url, account: ada, words, env: { EDITOR: path('editor') } })
    await a.shows(/This is where the room begins/)

    await a.type(`/upload ${path('plan.txt')}`)
    await a.press('Enter')
    await a.shows(/📎 plan\.txt \(8 B\)/)
    await a.type(`/download plan.txt ${path('copy.txt')}`)
    await a.press('Enter')
    await a.shows(/Downloaded to/)
    expect(readFileSync(path('copy.txt'), 'utf8')).toBe('the plan')
    await a.type(`/download plan.txt ${path('copy.txt')}`)
    await a.press('Enter')
    await a.shows(/already exists/)

    await a.press('C-x', 'C-e')
    await a.shows(/› written\n +elsewhere/)
    await a.press('Enter')
    await until(
      'it is sent',
      async () => (await heard(ada, room)).length === 2,
      () => '',
    )

    await say(bob, other, '$(touch x) `id` @ada; \u001b[31m')
    await until(
      'it is told',
      () => {
        try {
          return readFileSync(path('told'), 'utf8') !== ''
        } catch {
          return false
        }
      },
      () => '',
    )
    expect(readFileSync(path('told'), 'utf8')).toBe('0 bob in Engines\n$(touch x) `id` @ada; \u001b[31m')
    await a.shows(/# Engines +@1 /)
    expect(await unreadIn(ada, other)).toBe(1)
    await a.press('M-a')
    await until(
      'it is read',
      async () => (await unreadIn(ada, other)) === 0,
      () => '',
    )
    await reactTo(bob, (await heard(ada, other)).at(-1)!.message_id, '👀')
    await a.shows(/👀 1/)
  })
})
