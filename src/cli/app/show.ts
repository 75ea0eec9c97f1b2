import { pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { RegisteredApp, Release } from '../../domain/desktop/desktop.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf, releaseDocumentOf, sourceText } from './app-details.ts'

export const show = command({
  name: 'app show',
  summary: 'Show one app with its address and releases',
  needs: 'domain',
  onlyPrints: true,
  args: { slug: 'slug of the app' },
  flags: {},
  examples: ['svc app show focus', 'svc app show focus --json'],
  async run({ io, domain: { desktop }, args }) {
    const app = await desktop.registry.find(args.slug)
    const releases = await desktop.releases.list(args.slug)
    const lines = facts(app, releases).map(([label, text]) => `  ${label.padEnd(15)}${text}`)
    io.print([io.paint.bold(app.slug), ...lines].join('\n'), {
      ...documentOf(app),
      releases: releases.map(releaseDocumentOf),
    })
  },
})

function facts(app: RegisteredApp, releases: readonly Release[]): [string, string][] {
  return [
    ['Name', printable(app.name)],
    ...(app.description === ''
      ? []
      : [['Description', printable(app.description.replaceAll('\n', ' '))] as [string, string]]),
    ['Category', app.category],
    ['Source', sourceText(app)],
    ['State', app.disabled ? 'disabled' : 'enabled'],
    ['Seen by', seenBy(app)],
    ['Address', printable(app.app_path)],
    ['Icon', iconText(app.icon_url)],
    ['Context', app.supports_context ? 'can be passed to the assistant' : 'none'],
    ...releases.map((release, at): [string, string] => [at === 0 ? 'Releases' : '', releaseText(release)]),
    ['Changed', formatTime(app.updated_at)],
  ]
}

const seenBy = ({ source, owner, admin_only }: RegisteredApp): string => {
  if (source === 'custom') return owner ?? 'nobody'
  return admin_only ? 'administrators' : 'everybody'
}

const iconText = (url: string): string => {
  if (url === '') return 'none'
  return printable(url.startsWith('data:') ? `${url.slice(0, url.indexOf(','))}, …` : url)
}

const releaseText = ({ version, current, installed_at, files, bytes, sha256 }: Release): string =>
  `${version}${current ? ' (in force)' : ''}, ${formatTime(installed_at)}, ` +
  `${pluralize(files, 'file')}, ${formatSize(bytes)}, sha256 ${sha256.slice(0, 12)}`
