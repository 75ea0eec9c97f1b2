import { describe, expect, test } from 'vitest'
import { BadAddress, isLoopback, mustBePrivate, normalAddress } from '../../../src/client/http/server-address.ts'

test.each([
  ['https://cloud.example.org', 'https://cloud.example.org'],
  ['  HTTPS://Cloud.Example.ORG:443/ ', 'https://cloud.example.org'],
  ['cloud.example.org', 'https://cloud.example.org'],
  ['cloud.example.org:8443/svc//', 'https://cloud.example.org:8443/svc'],
  ['localhost:8420', 'http://localhost:8420'],
  ['127.0.0.1:8420/', 'http://127.0.0.1:8420'],
  ['http://[::1]:8420', 'http://[::1]:8420'],
  ['http://127.1:80', 'http://127.0.0.1'],
])('%s is kept as %s', (text, address) => {
  expect(normalAddress(text)).toBe(address)
})

test.each([
  ['', /not the address of a server/],
  ['ftp://example.org', /not the address of a server/],
  ['file:///etc/passwd', /not the address of a server/],
  ['https://', /not the address of a server/],
  ['https://ada:secret@example.org', /Leave the user name and the password out/],
  ['https://example.org/?action=login', /must not contain "\?"/],
  ['https://example.org/#top', /must not contain "#"/],
])('%s is refused', (text, message) => {
  expect(() => normalAddress(text)).toThrow(message)
  expect(() => normalAddress(text)).toThrow(BadAddress)
})

describe('unencrypted connections', () => {
  test.each([
    'http://localhost',
    'http://svc.localhost:1',
    'http://127.5.5.5',
    'http://[::1]:1',
    'https://example.org',
  ])('%s is private', (url) => {
    expect(() => mustBePrivate(url, false)).not.toThrow()
  })

  test.each([
    'http://example.org',
    'http://192.168.1.2',
    'http://localhost.example.org',
    'http://127.0.0.1.example.org',
    'http://10.0.0.1',
  ])('%s is not, unless that is accepted', (url) => {
    expect(isLoopback(url)).toBe(false)
    expect(() => mustBePrivate(url, false)).toThrow(/not encrypted.*--insecure/)
    expect(() => mustBePrivate(url, true)).not.toThrow()
  })
})
