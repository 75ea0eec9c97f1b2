import { expect, test } from 'vitest'
import { assistant } from '../../../src/contract/assistant.ts'
import { stage } from '../../support/assistant.ts'

test('a question is refused once the account keeps as much of conversations as it may', async () => {
  const { server, model, ada } = await stage()
  await server.set('assistant.max_bytes', 1)
  const ask = async () => {
    const { status, json } = await ada.call(assistant.actions.ask, { message: 'Hello?' })
    return [status, json['code'] ?? 'ok']
  }
  model.will({ text: 'Hello.' })
  expect(await ask()).toEqual([200, 'ok'])
  expect(await ask()).toEqual([413, 'quota_exceeded'])
  await server.set('assistant.max_bytes', undefined)
  model.will({ text: 'Hello.' })
  expect(await ask()).toEqual([200, 'ok'])
})
