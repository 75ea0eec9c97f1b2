import { afterEach } from 'vitest'
import { listenToServers, undocumentedAnswers } from './answers.ts'

listenToServers()

afterEach(async () => {
  const found = await undocumentedAnswers()
  if (found.length > 0)
    throw new Error(
      `The OpenAPI document does not describe an answer. Declare what is right, or correct the server.\n${found.join('\n')}`,
    )
})
