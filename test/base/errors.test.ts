import { expect, test } from 'vitest'
import { DiskFull, fromSystemError } from '../../src/base/errors.ts'

const withCode = (code: unknown) => Object.assign(new Error('x'), { code })

test.each(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])('%s is a full disk, and says what it was', (code) => {
  const error = withCode(code)
  const converted = fromSystemError(error)
  expect(converted).toBeInstanceOf(DiskFull)
  expect((converted as Error).cause).toBe(error)
})

test.each([
  withCode('ENOENT'),
  withCode(undefined),
  new Error('ENOSPC'),
  'ENOSPC',
  undefined,
  null,
  { code: 'ENOSPC' },
])('%s stays what it is', (error) => {
  expect(fromSystemError(error)).toBe(error)
})
