import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Starts the browser of the user with an address, and does not wait for it; false where none could be started. */
export function startBrowser(url: string, { BROWSER }: NodeJS.ProcessEnv): Promise<boolean> {
  const [program, ...args] = BROWSER ? [BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true, shell: false })
  child.unref()
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
  })
}
