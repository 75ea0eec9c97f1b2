import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** Bodies sent byte by byte, on as many connections as an address may have. */
export const slowBodies: Scenario = {
  name: 'slow-bodies',
  async run({ open, over, repeat, tokens }) {
    const told: Promise<void>[] = []
    await repeat({ atOnce: 200, most: 200 }, async (number) => {
      const one = await open()
      told.push(one.told)
      const [path, type] =
        number % 2 === 0
          ? ['/api/sync/data.php?action=push', 'application/json']
          : [`/api/sync/files.php?action=upload&path=/slow-${number}`, 'application/octet-stream']
      one.socket.write(
        `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${tokens[number % tokens.length]}\r\n` +
          `content-type: ${type}\r\ncontent-length: 100000\r\n\r\n`,
      )
      const isOver = over.then(() => true)
      while (!one.socket.destroyed && !(await Promise.race([isOver, sleep(50, false)]))) one.socket.write(' ')
      one.socket.destroy()
    })
    await Promise.all(told)
  },
  allowed: /^(408|429|no answer)/,
  reached: /^no answer$/,
}
