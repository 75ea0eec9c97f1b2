import type { Listener, Topic, Writer } from './database.ts'

// Notifications are published on commit: to listeners in this process and, on Postgres, to other processes.

/** A feed or a room has advanced to a position. */
export interface Notification {
  topic: Topic
  id: number
  head: number
}

/** A transaction of an engine, without notifications. */
export type BareWriter = Omit<Writer, 'notify'>

export interface Notifications {
  listen(topic: Topic, listener: Listener): void
  /** Publishes the notifications of a committed transaction. */
  publish(notifications: readonly Notification[]): void
  /** Tells listeners that notifications may have been lost. */
  missed(): void
}

export function makeNotifications(): Notifications {
  const listeners: { topic: Topic; listener: Listener }[] = []
  return {
    listen: (topic, listener) => void listeners.push({ topic, listener }),
    publish(notifications) {
      for (const { topic, id, head } of notifications)
        for (const each of listeners) if (each.topic === topic) each.listener.moved(id, head)
    },
    missed() {
      for (const { listener } of listeners) listener.missed()
    },
  }
}

/** A writer that collects notifications; a part that is rolled back drops its own. */
export function collectNotifications(bare: BareWriter): { writer: Writer; collected: () => Notification[] } {
  const notes: Notification[] = []
  return {
    writer: {
      engine: bare.engine,
      q: bare.q,
      run: (query) => bare.run(query),
      notify: (topic, id, head) => void notes.push({ topic, id, head }),
      async attempt(part) {
        const before = notes.length
        try {
          return await bare.attempt(part)
        } catch (error) {
          notes.length = before
          throw error
        }
      },
    },
    /** The last of each topic and ID, which has the highest position. */
    collected: () => [...new Map(notes.map((note) => [`${note.topic} ${note.id}`, note])).values()],
  }
}
