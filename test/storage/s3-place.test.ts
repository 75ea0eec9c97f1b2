import { describe, expect, test } from 'vitest'
import { BadS3Location, parseS3Location } from '../../src/storage/contents/blobs/s3-location.ts'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very-secret' }

describe('the address of an S3 store', () => {
  test.each([
    ['s3://files', 'https://files.s3.us-east-1.amazonaws.com/', '', 'us-east-1'],
    ['s3://files/', 'https://files.s3.us-east-1.amazonaws.com/', '', 'us-east-1'],
    ['s3://files?region=eu-central-1', 'https://files.s3.eu-central-1.amazonaws.com/', '', 'eu-central-1'],
    ['s3://my.files?region=eu-west-3', 'https://s3.eu-west-3.amazonaws.com/my.files/', '', 'eu-west-3'],
    ['s3://files?region=cn-north-1', 'https://files.s3.cn-north-1.amazonaws.com.cn/', '', 'cn-north-1'],
    ['s3://files/svc?endpoint=http://10.0.0.2:9000', 'http://10.0.0.2:9000/files/', 'svc/', 'us-east-1'],
    ['s3://files/a/b_2/?endpoint=https://s3.example.org', 'https://s3.example.org/files/', 'a/b_2/', 'us-east-1'],
    ['s3://files?endpoint=https%3A%2F%2Fs3.example.org%2F&region=auto', 'https://s3.example.org/files/', '', 'auto'],
  ])('%s is read', (address, base, prefix, region) => {
    expect(parseS3Location(address, keys)).toMatchObject({ base, prefix, region, credentials: keys })
  })

  test.each([
    ['', 'is s3://BUCKET'],
    ['files', 'is s3://BUCKET'],
    ['https://files', 'is s3://BUCKET'],
    ['s3://files:80', 'is s3://BUCKET'],
    ['s3://', 'no name of a bucket'],
    ['s3://Files', 'no name of a bucket'],
    ['s3://ab', 'no name of a bucket'],
    ['s3://key:very-secret@files', 'holds no keys'],
    ['s3://files?secretAccessKey=very-secret', 'holds no keys'],
    ['s3://files?AWS_SESSION_TOKEN=very-secret', 'holds no keys'],
    ['s3://files?endpoint=https://key:very-secret@s3.example.org', 'holds no keys'],
    ['s3://files/a+b', 'cannot be the prefix'],
    ['s3://files/a//b', 'cannot be the prefix'],
    ['s3://files/.../b', 'cannot be the prefix'],
    ['s3://files?zone=1', 'has no "zone"'],
    ['s3://files?region=a&region=b', 'more than once'],
    ['s3://files?region=', 'no region'],
    ['s3://files?region=eu/1', 'no region'],
    ['s3://files?endpoint=s3.example.org', 'is a URL such as'],
    ['s3://files?endpoint=ftp://s3.example.org', 'is a URL such as'],
    ['s3://files?endpoint=', 'is a URL such as'],
    ['s3://files?endpoint=https://s3.example.org/path', 'ends with its host or port: https://s3.example.org.'],
  ])('%s is refused', (address, why) => {
    const read = () => parseS3Location(address, keys)
    expect(read).toThrow(BadS3Location)
    expect(read).toThrow(why)
    expect(read).not.toThrow('very-secret')
  })

  test('is of no use without keys', () => {
    expect(() => parseS3Location('s3://files', { ...keys, secretAccessKey: '' })).toThrow('set AWS_ACCESS_KEY_ID')
  })

  test('is refused as wrong usage', () => {
    expect(new BadS3Location('').exitCode).toBe(2)
  })
})
