/** Access keys. They are never part of a URL. */
export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** What messages say about the use of a store. */
export interface S3Usage {
  /** What the names of the environment variables with the keys begin with; empty by default. */
  variables?: string
  /** The rights that the key needs. */
  rights?: string
}

export interface S3Location extends Required<S3Usage> {
  bucket: string
  /** Prefix of every object name: empty, or ending in a slash. */
  prefix: string
  region: string
  /** URL of the bucket, ending in a slash. */
  base: string
  /** Bucket, prefix and host for messages. */
  name: string
  credentials: S3Credentials
}

/** An unusable address of an S3 store. */
export class BadS3Location extends Error {
  override name = 'BadS3Place'
  readonly exitCode = 2
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const REGION = /^[a-z0-9-]+$/
/** Characters with a single encoding in URLs and signatures. */
const PREFIX = /^[\w.-]+(\/[\w.-]+)*$/
const FORM = 's3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION'

function endpointOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new BadS3Location(`The endpoint of an S3 store is a URL such as https://s3.example.org:9000.`)
  if (url.username || url.password) throw new BadS3Location(KEYS_ELSEWHERE)
  if (url.pathname !== '/' || url.search || url.hash)
    throw new BadS3Location(`The endpoint of an S3 store ends with its host or port: ${url.origin}.`)
  return url
}

const KEYS_ELSEWHERE =
  'The address of an S3 store holds no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.'

/** URL of a bucket at AWS. A bucket name with dots does not match AWS's certificate, so it goes into the path. */
function amazon(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  return bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`
}

function settingsOf(url: URL): { endpoint?: string; region?: string } {
  for (const name of url.searchParams.keys()) {
    if (/key|secret|token/i.test(name)) throw new BadS3Location(KEYS_ELSEWHERE)
    if (name !== 'endpoint' && name !== 'region')
      throw new BadS3Location(`The address of an S3 store has no "${name}": write ${FORM}.`)
    if (url.searchParams.getAll(name).length > 1)
      throw new BadS3Location(`The address of an S3 store names "${name}" more than once.`)
  }
  return Object.fromEntries(url.searchParams)
}

/**
 * Parses `s3://BUCKET[/PREFIX]?endpoint=https://host:port&region=eu-central-1`. Without an endpoint it is AWS's for the
 * region; with one, the bucket is in the path, which every store supports. The default region is us-east-1. An `http:`
 * endpoint is accepted: signatures protect the keys but not the contents, which is acceptable on a private network.
 * Throws `BadS3Location`.
 */
export function parseS3Location(
  address: string,
  credentials: S3Credentials,
  { variables = '', rights = 'list the bucket and to read, write and delete its objects' }: S3Usage = {},
): S3Location {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 's3:' || url.port || url.hash) throw new BadS3Location(`The address of an S3 store is ${FORM}.`)
  if (url.username || url.password) throw new BadS3Location(KEYS_ELSEWHERE)
  const bucket = url.hostname
  if (!BUCKET.test(bucket))
    throw new BadS3Location(
      `"${bucket}" is no name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens, such as s3://svc-files.`,
    )
  const path = url.pathname.replace(/^\/|\/$/g, '')
  if (path !== '' && (!PREFIX.test(path) || path.split('/').some((part) => /^\.+$/.test(part))))
    throw new BadS3Location(
      `"${path}" cannot be the prefix of an S3 store: letters, digits, dots, hyphens and underscores between slashes.`,
    )
  const settings = settingsOf(url)
  const region = settings.region ?? 'us-east-1'
  if (!REGION.test(region))
    throw new BadS3Location(`"${region}" is no region of an S3 store: write eu-central-1 or so.`)
  if (!credentials.accessKeyId || !credentials.secretAccessKey)
    throw new BadS3Location(
      `The keys of the S3 store are missing: set ${variables}AWS_ACCESS_KEY_ID and ${variables}AWS_SECRET_ACCESS_KEY.`,
    )
  if (!Object.values(credentials).every((key) => key === undefined || /^[!-~]+$/.test(key as string)))
    throw new BadS3Location('The keys of the S3 store contain characters that no key has: correct the environment.')
  const base =
    settings.endpoint === undefined ? amazon(bucket, region) : `${endpointOf(settings.endpoint).origin}/${bucket}/`
  return {
    bucket,
    prefix: path && `${path}/`,
    region,
    base,
    name: `s3://${bucket}${path && `/${path}`} at ${new URL(base).host}`,
    credentials,
    variables,
    rights,
  }
}
