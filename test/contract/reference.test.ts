import { expect, test } from 'vitest'
import { actions } from '../../src/contract/contract.ts'
import { errors } from '../../src/contract/errors.ts'
import { openApi } from '../../src/contract/openapi.ts'
import { referenceMarkdown, referencePage } from '../../src/contract/reference.ts'

test('src/API.md is what the declarations say (npm run docs writes it anew)', async () => {
  await expect(referenceMarkdown()).toMatchFileSnapshot('../../src/API.md')
})

test('the page and the OpenAPI document name every action and every error', () => {
  const page = referencePage('1.2.3')
  const document = JSON.stringify(openApi('1.2.3'))
  for (const { path, name } of actions) {
    expect(page).toContain(`${path}?action=${name}`)
    expect(document).toContain(`${path}?action=${name}`)
  }
  for (const code of Object.keys(errors)) {
    expect(page).toContain(code)
    expect(document).toContain(code)
  }
  expect(page).not.toMatch(/<script|https?:\/\//)
})

test('operation ids are unique', () => {
  const { paths } = openApi('1') as { paths: Record<string, Record<string, { operationId: string }>> }
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(new Set(ids).size).toBe(actions.length)
})
