import type { ChalkInstance } from 'chalk'
import { systemClock } from '../../../base/clock.ts'
import type { Api } from '../../../client/api.ts'
import type { Message } from '../../../client/chat/room-feed.ts'
import { roomsNamed, titleOf } from '../../../client/chat/room-names.ts'
import { makeChatSession } from '../../../client/chat/chat-session.ts'
import type { ExitCode } from '../../exit.ts'
import { interruptible } from '../../interruption.ts'
import { makeScreenState, type ScreenState } from './screen-state.ts'
import { makeRenderer } from './renderer.ts'
import { makeInputHandler } from './input-handler.ts'
import { readKeys } from './key-input.ts'
import { pickRoom } from './pickers.ts'
import { runNotifier } from './external-programs.ts'
import { makeTerminal, type Terminal } from './terminal.ts'
import { makeComposeMode } from './compose-mode.ts'
import { sleep } from '../../../base/sleep.ts'

export type Bell = 'mentions' | 'all' | 'none'

export interface ScreenParts {
  api: Api
  /** The API after another sign-in; undefined while there was none. */
  renew: () => Promise<Api | undefined>
  paint: ChalkInstance
  env: NodeJS.ProcessEnv
  /** The room to open first, as typed. */
  first: string | undefined
  bell: Bell
  /** A command to run for messages that notify. */
  notify: string | undefined
}

/** Runs the chat on the whole terminal until the user quits. */
export async function runScreen(parts: ScreenParts): Promise<ExitCode> {
  const terminal = makeTerminal(process.stdout, parts.paint)
  const { left, leave, failed } = makeOutcome()
  const window = { isFocused: true }
  const draw = coalesce(() => renderer.draw(), failed)
  const session = makeChatSession({
    api: parts.api,
    renew: parts.renew,
    clock: systemClock,
    sleep,
    random: Math.random,
    changed: draw,
    heard: (message, forMe) => alert({ ...parts, screen, terminal, isFocused: window.isFocused }, message, forMe),
    refused: (pending, error) => screen.restoreRejected(pending, error),
  })
  const screen = makeScreenState({ session, draw, failed, quit: () => leave(0) })
  const composeMode = makeComposeMode(screen, draw)
  const renderer = makeRenderer(screen, { terminal, composeMode })
  const input = makeInputHandler({
    screen,
    terminal,
    composeMode,
    renderer,
    env: parts.env,
    runOutside,
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

  function runOutside(work: () => Promise<void>): void {
    keys.pause()
    terminal.leave()
    screen.runTask(async () => {
      try {
        await work()
      } finally {
        terminal.enter()
        keys.resume()
      }
    })
  }

  const releaseTerminal = takeOverTerminal({ terminal, draw })
  keys.resume()
  draw()
  try {
    openFirstRoom(screen, parts.first).then(draw, failed)
    return await interruptible('Interrupted.', (signal) => {
      signal.addEventListener('abort', () => failed(signal.reason))
      return Promise.race([left, session.failure])
    })
  } finally {
    keys.pause()
    releaseTerminal()
    session.close()
  }
}

function makeOutcome() {
  let leave: (code: ExitCode) => void = () => undefined
  let failed: (error: unknown) => void = () => undefined
  const left = new Promise<ExitCode>((resolve, reject) => {
    leave = resolve
    failed = reject
  })
  return { left, leave, failed }
}

/** Coalesces calls: runs the work once, after the current callbacks. */
function coalesce(work: () => void, failed: (error: unknown) => void): () => void {
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

/** Takes over the terminal; the returned function restores it. It is also restored when the process exits. */
function takeOverTerminal({ terminal, draw }: { terminal: Terminal; draw: () => void }) {
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

async function openFirstRoom(screen: ScreenState, first: string | undefined): Promise<void> {
  const { session } = screen
  await session.start()
  const { rooms, me } = session.state
  const found = first === undefined ? rooms : roomsNamed(rooms, me!.id, first)
  if (first !== undefined && found.length !== 1) pickRoom(screen, first)
  else if (found[0]) screen.open(found[0].room_id)
  else screen.notify('You are in no room yet: /create NAME creates one, /dm USER starts a conversation.')
}

interface AlertContext extends Pick<ScreenParts, 'bell' | 'notify' | 'env'> {
  screen: ScreenState
  terminal: Terminal
  isFocused: boolean
}

/** Notifies of a message that the user may not see. */
function alert(parts: AlertContext, { room_id, username, content }: Message, forMe: boolean): void {
  const { screen, terminal, bell, notify, env, isFocused } = parts
  const { state } = screen.session
  if (bell === 'none' || (!forMe && bell !== 'all')) return
  if (isFocused && room_id === state.current) return
  terminal.bell()
  const room = state.rooms.find((each) => each.room_id === room_id)
  if (notify === undefined || !room) return
  const notice = { room: titleOf(room, state.me?.id ?? 0), from: username, text: content }
  runNotifier(notify, notice, { env, failed: (sentence) => screen.notify(sentence, 'error') })
}
