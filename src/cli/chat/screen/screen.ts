import type { ChalkInstance } from 'chalk'
import { systemClock } from '../../../base/clock.ts'
import type { Api } from '../../../client/api.ts'
import type { Message } from '../../../client/chat/follow-room.ts'
import { roomsNamed, titleOf } from '../../../client/chat/room-names.ts'
import { makeChatSession } from '../../../client/chat/session.ts'
import type { ExitCode } from '../../exit.ts'
import { interruptible } from '../../interruption.ts'
import { makeDesk, type Desk } from './desk.ts'
import { makeDrawing } from './drawing.ts'
import { makeInput } from './input.ts'
import { readKeys } from './keys.ts'
import { goTo } from './places.ts'
import { runNotifier } from './programs.ts'
import { makeTerminal, type Terminal } from './terminal.ts'
import { makeWriting } from './write.ts'
import { sleep } from '../../../client/http/sleep.ts'

export type Bell = 'mentions' | 'all' | 'none'

export interface ScreenParts {
  api: Api
  /** The way to the server after signing in anew; undefined while nobody has. */
  renew: () => Promise<Api | undefined>
  paint: ChalkInstance
  env: NodeJS.ProcessEnv
  /** The room to begin with, as it was typed. */
  first: string | undefined
  bell: Bell
  /** A command to run about messages that ring. */
  notify: string | undefined
}

/** Shows the chat on the whole terminal until somebody leaves it. */
export async function runScreen(parts: ScreenParts): Promise<ExitCode> {
  const terminal = makeTerminal(process.stdout, parts.paint)
  const { left, leave, failed } = makeEnd()
  const window = { isFocused: true }
  const draw = onceATurn(() => drawing.draw(), failed)
  const session = makeChatSession({
    api: parts.api,
    renew: parts.renew,
    clock: systemClock,
    sleep,
    random: Math.random,
    changed: draw,
    heard: (message, forMe) => announce({ ...parts, desk, terminal, isFocused: window.isFocused }, message, forMe),
    refused: (pending, error) => desk.giveBack(pending, error),
  })
  const desk = makeDesk({ session, draw, failed, quit: () => leave(0) })
  const writing = makeWriting(desk, draw)
  const drawing = makeDrawing(desk, { terminal, writing })
  const input = makeInput({
    desk,
    terminal,
    writing,
    drawing,
    env: parts.env,
    outside,
    focused(isFocused) {
      window.isFocused = isFocused
      session.focus(isFocused)
    },
  })
  const keys = readKeys(process.stdin, (given) => {
    try {
      input(given)
    } catch (error) {
      failed(error)
    }
    draw()
  })

  function outside(work: () => Promise<void>): void {
    keys.pause()
    terminal.leave()
    desk.doing(async () => {
      try {
        await work()
      } finally {
        terminal.enter()
        keys.resume()
      }
    })
  }

  const letGo = holdTerminal({ terminal, draw })
  keys.resume()
  draw()
  try {
    begin(desk, parts.first).then(draw, failed)
    return await interruptible('Interrupted.', (signal) => {
      signal.addEventListener('abort', () => failed(signal.reason))
      return Promise.race([left, session.failure])
    })
  } finally {
    keys.pause()
    letGo()
    session.close()
  }
}

function makeEnd() {
  let leave: (code: ExitCode) => void = () => undefined
  let failed: (error: unknown) => void = () => undefined
  const left = new Promise<ExitCode>((resolve, reject) => {
    leave = resolve
    failed = reject
  })
  return { left, leave, failed }
}

/** However often it is asked for, it is done once when everything else has been. */
function onceATurn(work: () => void, failed: (error: unknown) => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      try {
        work()
      } catch (error) {
        failed(error)
      }
    })
  }
}

/** Takes the terminal over; what is returned gives it back as it was, which happens whatever ends the program. */
function holdTerminal({ terminal, draw }: { terminal: Terminal; draw: () => void }) {
  const resized = (): void => {
    terminal.forget()
    draw()
  }
  process.stdout.on('resize', resized)
  process.once('exit', terminal.leave)
  terminal.enter()
  return (): void => {
    terminal.leave()
    process.stdout.off('resize', resized)
    process.off('exit', terminal.leave)
  }
}

async function begin(desk: Desk, first: string | undefined): Promise<void> {
  const { session } = desk
  await session.start()
  const { rooms, me } = session.state
  const found = first === undefined ? rooms : roomsNamed(rooms, me!.id, first)
  if (first !== undefined && found.length !== 1) goTo(desk, first)
  else if (found[0]) desk.open(found[0].room_id)
  else desk.say('You are in no room yet: /create NAME opens one, /dm USER begins a conversation.')
}

interface Announcing extends Pick<ScreenParts, 'bell' | 'notify' | 'env'> {
  desk: Desk
  terminal: Terminal
  isFocused: boolean
}

/** Draws attention to a message that somebody may not see. */
function announce(parts: Announcing, { room_id, username, content }: Message, forMe: boolean): void {
  const { desk, terminal, bell, notify, env, isFocused } = parts
  const { state } = desk.session
  if (bell === 'none' || (!forMe && bell !== 'all')) return
  if (isFocused && room_id === state.current) return
  terminal.bell()
  const room = state.rooms.find((each) => each.room_id === room_id)
  if (notify === undefined || !room) return
  const notice = { room: titleOf(room, state.me?.id ?? 0), from: username, text: content }
  runNotifier(notify, notice, { env, failed: (sentence) => desk.say(sentence, 'error') })
}
