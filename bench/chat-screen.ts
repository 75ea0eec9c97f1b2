import { spawn } from 'node:child_process'
import { makeAccount, withService } from './account.ts'
import { answerOf, openRoom, pathOf } from './chat.ts'
import { requestTo, withConnections } from './connection.ts'
import type { Figure } from './figure.ts'
import { addPeople } from './people.ts'
import { numbers } from './samples.ts'
import { plainEnv, SVC } from './server.ts'
import type { Workspace } from './workspace.ts'

const ROUNDS = 9
const MOST_START_MS = 400
const MOST_SHOW_MS = 300
/** Timeout of any step, ms. */
const PATIENCE_MS = 20_000

/** `svc chat` on its own terminal. */
interface Screen {
  /** Resolves when a new text is shown. */
  shows(text: string): Promise<void>
  /** Leaves the chat. */
  leave(): Promise<void>
}

function openScreen(workspace: Workspace, url: string, token: string): Screen {
  const own = workspace.folder('client')
  const env = { ...plainEnv(), TERM: 'xterm-256color', XDG_CONFIG_HOME: own, SVC_URL: url, SVC_TOKEN: token }
  // `script` of util-linux provides a terminal and forwards its input.
  const child = spawn('script', ['-qfec', `'${process.execPath}' '${SVC}' chat`, '/dev/null'], { env })
  workspace.adopt(child)
  const ended = new Promise<void>((resolve, reject) =>
    child.on('error', () => reject(new Error('The figure needs script, of util-linux.'))).on('close', () => resolve()),
  )
  let shown = ''
  let look = (): void => undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    look()
  })
  const shows = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The screen does not show "${text}": ${shown}`)), PATIENCE_MS)
      ended.catch(reject)
      look = () => {
        if (!shown.includes(text)) return
        clearTimeout(timer)
        shown = ''
        resolve()
      }
      look()
    })
  return {
    shows,
    async leave() {
      child.stdin.write('\u0004')
      await ended
    },
  }
}

/** Time from the start of the command until the messages of a room are shown. */
export const chatStart: Figure = {
  name: 'chat-start',
  unit: 'ms',
  peer: 'the limit for the first full screen of svc chat',
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, async ([connection]) => {
        const room_id = await openRoom(url, account.token, connection!)
        const content = 'The loom is ready.'
        const body = Buffer.from(JSON.stringify({ room_id, content }))
        const sent = {
          method: 'POST',
          path: pathOf('send'),
          token: account.token,
          type: 'application/json',
          body,
        } as const
        await answerOf(connection!, requestTo(url, sent))
        const ours: number[] = []
        for (const _ of numbers(ROUNDS)) {
          const start = performance.now()
          const screen = openScreen(workspace, url, account.token)
          await screen.shows(content)
          ours.push(performance.now() - start)
          await screen.leave()
        }
        return { ours, peer: ours.map(() => MOST_START_MS) }
      }),
    )
  },
}

/** Time from sending a message until it is shown to another user. */
export const chatShow: Figure = {
  name: 'chat-show',
  unit: 'ms',
  peer: 'the limit for a message that somebody else sends',
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const [other] = await addPeople(account.dataDir, 1)
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, async ([connection]) => {
        const room_id = await openRoom(url, account.token, connection!, [other!.id])
        const screen = openScreen(workspace, url, account.token)
        await screen.shows('This is where the room begins')
        const ours: number[] = []
        for (const round of numbers(ROUNDS)) {
          const content = `Pattern number ${round} is woven.`
          const body = Buffer.from(JSON.stringify({ room_id, content }))
          const sent = {
            method: 'POST',
            path: pathOf('send'),
            token: other!.token,
            type: 'application/json',
            body,
          } as const
          const start = performance.now()
          const shown = screen.shows(content)
          await answerOf(connection!, requestTo(url, sent))
          await shown
          ours.push(performance.now() - start)
        }
        await screen.leave()
        return { ours, peer: ours.map(() => MOST_SHOW_MS) }
      }),
    )
  },
}
