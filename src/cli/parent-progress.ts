import type { JobContext } from '../domain/backups/backups.ts'

const INTERVAL = 500

/** Progress for the server that started this command with an IPC channel; undefined without one. The command ends with that server. */
export function parentProgress(): JobContext['progress'] {
  if (!process.send) return undefined
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // The listener keeps the process alive otherwise.
  process.channel?.unref()
  let [done, total, sent] = [0, 0, 0]
  const send = (): void => {
    if (process.connected) process.send?.({ done, total }, () => undefined)
    sent = performance.now()
  }
  return {
    total(bytes) {
      total = bytes
      send()
    },
    add(bytes) {
      done += bytes
      if (performance.now() - sent >= INTERVAL) send()
    },
  }
}
