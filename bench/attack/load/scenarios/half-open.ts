import type { Scenario } from '../scenario.ts'

/** Clients that half-close the connection, with or without a complete request, and never read or close. */
export const halfOpen: Scenario = {
  name: 'half-open',
  async run({ open, over, repeat, size, tokens }) {
    const told: Promise<void>[] = []
    const whole = `GET /api/sync/files.php?action=manifest HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${tokens[0]}\r\n\r\n`
    await repeat({ atOnce: 20, most: size(2_000, 300) }, async (number) => {
      const one = await open()
      one.socket.pause()
      one.socket.end(number % 2 === 0 ? whole : whole.slice(0, 60))
      told.push(one.told)
      void over.then(() => one.socket.destroy())
    })
    await over
    await Promise.all(told)
  },
  allowed: /^(200|400|408|429|no answer)/,
  reached: /^(no answer|200|400)$/,
}
