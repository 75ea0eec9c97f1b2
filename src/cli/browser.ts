import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens a URL in the user's browser without waiting for it; false if none could be started. */
export function startBrowser(url: string, { BROWSER }: NodeJS.ProcessEnv): Promise<boolean> {
  const [program, ...args] = BROWSER ? [BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true, shell: false })
  child.unref()
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
  })
}
