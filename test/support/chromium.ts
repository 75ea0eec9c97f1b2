import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const MISSING =
  'No browser for the tests of the desktop: install chromium, or name one in SVC_CHROME. On Linux with an x64 processor the one of @sparticuz/chromium serves, once npm has installed it.'

/** The path of a browser: from SVC_CHROME, installed on this machine, or the packaged one. Throws if there is none. */
async function browserProgram(): Promise<string> {
  const named = process.env['SVC_CHROME']
  if (named) return named
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const installed = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  )
  if (installed) return installed
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(MISSING)
  const packed = await import('@sparticuz/chromium').catch((cause: unknown) => {
    throw new Error(MISSING, { cause })
  })
  return packed.default.executablePath()
}

/** Starts a headless browser; the caller closes it. */
export const startChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await browserProgram(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none'],
  })
