import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startChild, type Child } from '../../support/child.ts'
import { makeRandom } from '../../support/random.ts'
import { folderOfTest } from '../../support/server.ts'
import { readTree, write } from '../sync/bench.ts'
import { startProxy } from './proxy.ts'

// The command as it is built and a server in a process of its own, both killed outright at requests that a seed decides.

const program = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url))
const PASSWORD = 'analytical engine'

test(
  'client and server are killed again and again: nothing is lost, and in the end all hold the same',
  { timeout: 300_000 },
  async () => {
    const random = makeRandom(7)
    const place = await folderOfTest()
    const data = join(place, 'data')
    mkdirSync(data)
    let server: Child = await startChild('serve', data)
    onTestFinished(() => server.kill())
    const proxy = await startProxy(server.ready, random)

    const run = (
      args: string[],
      stdin = '',
    ): { code: Promise<number | null>; kill: () => void; text: () => string } => {
      const env = { PATH: process.env['PATH'], HOME: place, SVC_DATA_DIR: data, SVC_LIMITS: 'off' }
      const child = spawn(process.execPath, [program, ...args], { env })
      let text = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      child.stdin.on('error', () => undefined).end(stdin)
      const code = new Promise<number | null>((resolve) => child.on('close', resolve))
      return { code, kill: () => child.kill('SIGKILL'), text: () => text }
    }
    const ok = async (args: string[], stdin?: string): Promise<void> => {
      const { code, text } = run(args, stdin)
      if ((await code) !== 0) throw new Error(`svc ${args.join(' ')}: ${text()}`)
    }

    await ok(['user', 'add', 'admin', '--role', 'admin', '--password-stdin'], PASSWORD)
    await ok(['login', proxy.url, '--username', 'admin', '--password-stdin'], PASSWORD)
    const roots = [join(place, 'one'), join(place, 'other')] as const
    for (const root of roots) await ok(['sync', 'init', root])

    const contents = new Set<string>()
    const put = (root: string, path: string, content: string): void => {
      contents.add(content)
      write(root, path, content)
    }
    for (let round = 0; round < 6; round += 1) {
      for (const [side, root] of roots.entries()) {
        for (let at = 0; at < 40; at += 1)
          put(root, `r${round}/s${side}/${at % 4}/${at}.txt`, `${round} ${side} ${at} `.repeat(20))
        put(root, `both-${round}.txt`, `of side ${side} in round ${round}`)
      }
      for (const root of roots) {
        const client = run(['sync', root, '--force-delete'])
        let left = random.below(7)
        const victim = random.of(['client', 'server', 'neither'] as const)
        proxy.next = () => {
          left -= 1
          if (left !== 0 || victim === 'neither') return undefined
          if (victim === 'client') client.kill()
          else void server.kill()
          return 'slow'
        }
        await client.code
        proxy.next = () => undefined
        if (server.process.exitCode !== null || server.process.signalCode !== null) {
          server = await startChild('serve', data)
          proxy.upstream = server.ready
        }
      }
    }
    for (let round = 0; round < 3; round += 1) for (const root of roots) await ok(['sync', root, '--force-delete'])

    const [one, other] = roots.map(readTree)
    expect(other).toEqual(one)
    expect(new Set(Object.values(one!).filter((content) => content !== null))).toEqual(contents)
    const third = join(place, 'third')
    await ok(['sync', 'init', third])
    await ok(['sync', third])
    expect(readTree(third)).toEqual(one)
    rmSync(third, { recursive: true })
  },
)
