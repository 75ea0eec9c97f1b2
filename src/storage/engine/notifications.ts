import type { Hearer, Topic, Writer } from './database.ts'

// What units of work tell goes out with their commit: to who hears it in this process, and by an engine that can to others.

/** That a feed or a room moved on to a position. */
export interface Telling {
  topic: Topic
  id: number
  head: number
}

/** A transaction as an engine has it. */
export type BareWriter = Omit<Writer, 'tell'>

/** Who hears what in this process. */
export interface Hearing {
  hear(topic: Topic, hearer: Hearer): void
  /** Passes on what is committed. */
  pass(tellings: readonly Telling[]): void
  /** Says that something may have gone by unheard. */
  missed(): void
}

export function makeHearing(): Hearing {
  const hearers: { topic: Topic; hearer: Hearer }[] = []
  return {
    hear: (topic, hearer) => void hearers.push({ topic, hearer }),
    pass(tellings) {
      for (const { topic, id, head } of tellings)
        for (const each of hearers) if (each.topic === topic) each.hearer.moved(id, head)
    },
    missed() {
      for (const { hearer } of hearers) hearer.missed()
    },
  }
}

/** The writer of one transaction, which notes what is told; what is undone takes back what it told. */
export function noting(bare: BareWriter): { writer: Writer; told: () => Telling[] } {
  const notes: Telling[] = []
  return {
    writer: {
      engine: bare.engine,
      q: bare.q,
      run: (query) => bare.run(query),
      tell: (topic, id, head) => void notes.push({ topic, id, head }),
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
    /** The last of each, which is the furthest. */
    told: () => [...new Map(notes.map((note) => [`${note.topic} ${note.id}`, note])).values()],
  }
}
