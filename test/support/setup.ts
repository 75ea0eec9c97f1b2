import process from 'node:process'
import { afterEach } from 'vitest'
import { listenToServers, undocumentedAnswers } from './answers.ts'

listenToServers()

// Commands that ran in this process for an earlier file may have changed it.
process.umask(0o022)

afterEach(async () => {
  const found = await undocumentedAnswers()
  if (found.length > 0)
    throw new Error(
      `The OpenAPI document does not describe an answer. Declare what is right, or correct the server.\n${found.join('\n')}`,
    )
})
