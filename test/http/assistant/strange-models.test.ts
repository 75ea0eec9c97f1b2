import { describe, expect, test } from 'vitest'
import { askFor, stage } from '../../support/assistant.ts'
import type { Heard } from '../../support/model-server.ts'

/** A model of which neither the administrator nor its server says anything. */
const unknown = { 'assistant.models': [{ id: 'talker', context: 32_768 }] }
const list = (path: string) => ({ name: 'list_files', arguments: { path } })
const listed = '<tool_call name="list_files">{"path":"/"}</tool_call>'

/** What the model was told of its calls, with the number of each call. */
const results = ({ messages }: Heard) =>
  messages
    .filter(({ role }) => role === 'tool')
    .map((message) => [(message as { tool_call_id?: string }).tool_call_id, message.content] as const)

describe('a model of which nothing is known', () => {
  test('is offered functions, and nothing is written into its text', async () => {
    const { model, ada } = await stage({ settings: unknown })
    model.will({ calls: [list('/')] }, { text: 'No files.' })
    expect((await askFor(ada, { message: 'What is there?' })).response).toBe('No files.')
    expect(model.heard.every(({ tools }) => tools.includes('list_files'))).toBe(true)
    expect(JSON.stringify(model.heard[0]!.messages)).not.toContain('tool_call')
  })

  test.each([400, 404, 422, 500, 501])(
    'is told of them in the text where its server answers %i, and from then on at once',
    async (status) => {
      const { model, ada } = await stage({ settings: unknown })
      model.will({ status }, { text: listed }, { text: 'No files.' }, { text: 'Good morning.' })
      expect(await askFor(ada, { message: 'What is there?' })).toMatchObject({
        response: 'No files.',
        usage: { tool_calls: 1 },
      })
      expect((await askFor(ada, { message: 'Good morning' })).response).toBe('Good morning.')
      expect(model.heard.map(({ tools }) => tools.length > 0)).toEqual([true, false, false, false])
    },
  )

  test('is not asked again for what has nothing to do with functions, and what fails both ways is not remembered', async () => {
    const { model, ada } = await stage({ settings: unknown })
    for (const status of [401, 502]) {
      model.will({ status })
      await expect(askFor(ada, { message: 'Hello' })).rejects.toThrow('503')
    }
    expect(model.heard).toHaveLength(2)
    model.will({ status: 400 }, { status: 400 }, { text: 'Hello.' })
    await expect(askFor(ada, { message: 'Hello' })).rejects.toThrow('503')
    expect((await askFor(ada, { message: 'Hello' })).response).toBe('Hello.')
    expect(model.heard.map(({ tools }) => tools.length > 0)).toEqual([true, true, true, false, true])
  })

  test('that answers unreadably once is asked in the text, and is offered functions again', async () => {
    const { model, ada } = await stage({ settings: unknown })
    const unreadable = {
      id: '1',
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: null }] } }],
    }
    for (const raw of ['Good morning', JSON.stringify(unreadable), `data: ${JSON.stringify(unreadable)}\n\n`]) {
      model.will({ raw }, { text: listed }, { calls: [list('/')] }, { text: 'No files.' })
      expect((await askFor(ada, { message: 'What is there?' })).usage.tool_calls).toBe(2)
    }
    const offered = [true, false, true, true]
    expect(model.heard.map(({ tools }) => tools.length > 0)).toEqual([...offered, ...offered, ...offered])
  })

  test.each([400, 500])('that has called functions before does not lose them by one answer %i', async (status) => {
    const { model, ada } = await stage({ settings: unknown })
    model.will({ calls: [list('/')] }, { status }, { text: 'No files.' }, { calls: [list('/')] }, { text: 'None.' })
    expect((await askFor(ada, { message: 'What is there?' })).response).toBe('No files.')
    expect((await askFor(ada, { message: 'And now?' })).response).toBe('None.')
    expect(model.heard.map(({ tools }) => tools.length > 0)).toEqual([true, true, false, true, true])
  })

  test('that speaks for an agent model hands over in the text where its server takes no functions', async () => {
    const { model, ada } = await stage({ settings: { ...unknown, 'assistant.agent_model': 'worker' } })
    model.will(
      { status: 400 },
      { text: '<tool_call name="delegate">{"task":"List the files."}</tool_call>' },
      { text: 'There are none.' },
      { text: 'No files.' },
    )
    expect((await askFor(ada, { message: 'What is there?' })).response).toBe('No files.')
    expect(model.heard.map((one) => one.model)).toEqual(['talker', 'talker', 'worker', 'talker'])
    expect(model.heard[2]!.messages.at(-1)!.content).toBe('List the files.')
  })
})

describe('a model that calls badly', () => {
  const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)

  test('is told what is wrong with each call, in the order of the calls, and then answers', async () => {
    const { model, ada } = await stage()
    const depths = [
      `{"path":"/a","content":${nested('[', ']', 5_000)}}`,
      `{"table":"svc_docs","values":{"title":"x","tags":${nested('[', ']', 5_000)}}}`,
    ]
    model.will({
      calls: [
        { name: 'write_file', arguments: depths[0]! },
        { name: 'insert_row', arguments: depths[1]! },
        { name: 'write_file', arguments: '{"path": "/a", ' },
        { name: 'write_file', arguments: '"path"' },
        { name: 'a\0b\u202e\ud800'.repeat(40), arguments: '{}', id: 'x'.repeat(5_000) },
        { name: 'rm -rf /', arguments: {}, id: 'same' },
        { name: 'list_files', arguments: { path: '/' }, id: 'same' },
        list('/b'),
        ...Array.from({ length: 100 }, () => list('/c')),
      ],
    })
    expect((await askFor(ada, { message: 'Go' })).response).toBe('Hello.')
    const told = results(model.heard[1]!)
    const texts = told.map(([, text]) => String(text))
    for (const text of texts.slice(0, 4)) expect(text).toBe(texts[0])
    expect(texts[0]).toMatch(/^Error: the arguments must be one whole JSON object/)
    expect(texts.slice(4, 6).every((text) => text.startsWith('Error: there is no such tool. Tools: '))).toBe(true)
    expect(texts[6]).toContain('Teamchat/')
    expect(texts[7]).toContain('Error: ')
    expect(new Set(texts.slice(8))).toEqual(new Set(['Error: at most 8 calls at a time.']))
    expect(texts).toHaveLength(64)
    // Every result names its call, and both stand in one order.
    const called = model.heard[1]!.messages.findLast(({ role }) => role === 'assistant') as unknown as {
      tool_calls: { id: string; function: { name: string; arguments: string } }[]
    }
    expect(told.map(([id]) => id)).toEqual(called.tool_calls.map(({ id }) => id))
    expect(new Set(told.map(([id]) => id)).size).toBe(64)
    for (const { function: one } of called.tool_calls) {
      expect(one.name).toMatch(/^[\w-]{1,64}$/)
      expect(JSON.parse(one.arguments)).toBeTypeOf('object')
    }
    expect((await ada.manifest()).files).toEqual([])
  })

  test.each([
    ['without a name', { arguments: { path: '/' } }],
    ['with a name of null', { name: null, arguments: { path: '/' } }],
    ['with a name of blanks', { name: ' ', arguments: { path: '/' } }],
  ])('is told that a call %s cannot be read', async (_, call) => {
    const { model, ada } = await stage()
    model.will({ text: 'Wait.', calls: [call] })
    expect((await askFor(ada, { message: 'Go' })).response).toBe('Wait.\n\nHello.')
    expect(results(model.heard[1]!).map(([, text]) => text)).toEqual([
      expect.stringMatching(/^Error: the call could not be read\. Tools: list_files/) as unknown,
    ])
  })

  test.each(['url', 'anthropic'] as const)('is told that arguments are too long: %s', async (protocol) => {
    const { server, model, ada } = await stage()
    await server.set('assistant.base_url', model[protocol])
    const content = 'x'.repeat(400_000)
    model.will({ calls: [list('/'), { name: 'write_file', arguments: { path: '/a', content } }] })
    expect((await askFor(ada, { message: 'Go' })).response).toBe('Hello.')
    const told = JSON.stringify(model.heard[1]!.messages)
    const [, listing, error] = /(Teamchat\/).*(Error: the arguments must be one whole JSON object)/.exec(told) ?? []
    expect([listing, error]).not.toContain(undefined)
    expect((await ada.manifest()).files).toEqual([])
  })

  test('in its text is told the same of arguments without end', async () => {
    const { model, ada } = await stage({
      settings: { 'assistant.models': [{ id: 'talker', tools: false, vision: false, context: 32_768 }] },
    })
    for (const text of [
      `<tool_call name="list_files">{"path":${nested('[', ']', 5_000)}}</tool_call>`,
      `<tool_call name="list_files">${nested('{"a":', '}', 5_000)}`,
    ])
      model.will({ text })
    expect((await askFor(ada, { message: 'Go' })).response).toBe('Hello.')
    expect(model.heard[1]!.messages.at(-1)!.content).toContain('Error: the arguments must be one whole JSON object')
    expect(model.heard[2]!.messages.at(-1)!.content).toContain('Error: the call could not be read')
  })
})

test('doctor names the tools for which a model reads too little, and what to do', async () => {
  const { server, model } = await stage({
    model: { models: { talker: {} } },
    settings: { 'assistant.models': [{ id: 'talker', context: 4_096 }] },
  })
  const { assistant } = server.local.domain
  expect(await assistant.diagnose()).toMatchObject({
    isWell: false,
    found: expect.stringMatching(
      new RegExp(`^talker at ${model.host} reads 4096 tokens, too few for the tools (\\w+, )*save_component$`),
    ) as unknown,
    remedy: expect.stringContaining('svc config set assistant.models') as unknown,
  })
  await server.set('assistant.models', [{ id: 'talker', context: 32_768 }])
  expect(await assistant.diagnose()).toMatchObject({
    isWell: true,
    found: expect.stringContaining('may call') as unknown,
  })
})
