import { expect, test } from 'vitest'
import { ByteBuffer } from '../../src/base/byte-buffer.ts'
import { bytesOf } from '../support/contents.ts'

test('bytes that come one by one are kept in few chunks, in order', () => {
  const content = bytesOf(300_000)
  const gathered = new ByteBuffer()
  for (let at = 0; at < content.length; at++) gathered.add(content.subarray(at, at + 1))
  expect(gathered.size).toBe(content.length)
  const chunks = gathered.take()
  expect(chunks.length).toBeLessThan(100)
  expect(Buffer.concat(chunks).equals(content)).toBe(true)
  expect([gathered.size, gathered.take()]).toEqual([0, []])
})

test('what is added after some was taken changes nothing of that', () => {
  const gathered = new ByteBuffer()
  gathered.add(Buffer.from('one '))
  const before = gathered.take()
  gathered.add(Buffer.from('two '))
  gathered.add(Buffer.alloc(5_000, 'x'))
  gathered.add(Buffer.from(' three'))
  expect(Buffer.concat(before).toString()).toBe('one ')
  expect(Buffer.concat(gathered.take()).toString()).toBe(`two ${'x'.repeat(5_000)} three`)
})
