import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { until } from './chat-command.ts'

/** Whether tmux is available. */
export const hasTmux = spawnSync('tmux', ['-V']).status === 0

/** A terminal that runs a program. */
export interface Pane {
  /** Types text unchanged. */
  type: (text: string) => Promise<void>
  /** Presses keys by tmux's names, such as `Enter` or `M-Up`. */
  press: (...keys: string[]) => Promise<void>
  /** The screen, line by line; with `isRaw` including colours. */
  screen: (isRaw?: boolean) => Promise<string>
  /** Waits until the screen matches. */
  shows: (pattern: RegExp) => Promise<void>
  resize: (columns: number, rows: number) => Promise<void>
}

/** Opens terminals of one tmux server in a folder; it is ended with the test. */
export function openTmux(folder: string) {
  const socket = join(folder, 'tmux')
  const tmux = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })).stdout
  onTestFinished(() => tmux('kill-server').then(() => undefined))

  return async function open(name: string, env: Record<string, string>, command: string[]): Promise<Pane> {
    const words = Object.entries({ ...env, LANG: 'C.UTF-8', TERM: 'screen-256color', TZ: 'UTC' }).map(
      ([key, value]) => `${key}=${value}`,
    )
    // Keep the terminal open after the program has ended.
    const script = '"$@"; printf "ended with %s\\n" "$?"; exec cat'
    await tmux(
      'new-session',
      '-d',
      '-s',
      name,
      '-x',
      '80',
      '-y',
      '24',
      'env',
      '-i',
      `PATH=${process.env['PATH']}`,
      ...words,
      'sh',
      '-c',
      script,
      'sh',
      ...command,
    )
    const screen = (isRaw = false) => tmux('capture-pane', '-p', ...(isRaw ? ['-e'] : []), '-t', name)
    return {
      type: async (text) => void (await tmux('send-keys', '-t', name, '-l', '--', text)),
      press: async (...keys) => void (await tmux('send-keys', '-t', name, ...keys)),
      screen,
      async shows(pattern) {
        let last = ''
        await until(
          `${name} shows ${pattern}`,
          async () => pattern.test((last = await screen())),
          () => last,
        )
      },
      resize: async (columns, rows) =>
        void (await tmux('resize-window', '-t', name, '-x', `${columns}`, '-y', `${rows}`)),
    }
  }
}
