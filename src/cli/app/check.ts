import { pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { inspectPackage, packageArg, remarkLines, type InspectedPackage } from './package.ts'

export const check = command({
  name: 'app check',
  summary: 'Check the package of an app and report every problem',
  details:
    'A package is a folder with app.json, which names slug, name and version, and may name description, icon, ' +
    'category, entry (index.html), supports_context and admin_only. Names that begin with a dot are left out. ' +
    'Changes nothing. Exit code 0 when there are no problems, 3 with warnings, 1 when it cannot be installed. svc ' +
    'template write sample-app creates a package to start from.',
  needs: 'nothing',
  args: { package: packageArg },
  flags: {},
  examples: ['svc app check ./focus', 'svc app check focus.tar.gz --json'],
  async run({ io, args }) {
    const inspected = await inspectPackage(args.package)
    const { app, problems, warnings } = inspected
    const lines = [
      ...remarkLines(problems).map((line) => `${io.paint.red('problem')}  ${line}`),
      ...remarkLines(warnings).map((line) => `${io.paint.yellow('warning')}  ${line}`),
      summaryOf(inspected),
    ]
    io.print(lines.join('\n'), {
      ok: app !== undefined,
      app: app ? { ...app.manifest, sha256: app.sha256, files: app.files.length, bytes: app.bytes } : null,
      problems,
      warnings,
      left_out: inspected.leftOut,
    })
    if (!app) return 1
    return warnings.length > 0 ? 3 : 0
  },
})

function summaryOf({ app, problems, leftOut }: InspectedPackage): string {
  if (!app) return `This cannot be installed: ${pluralize(problems.length, 'problem')}.`
  const { slug, version } = app.manifest
  const left = leftOut.length > 0 ? `; ${pluralize(leftOut.length, 'name')} with a leading dot left out` : ''
  return `${slug} ${version} can be installed: ${pluralize(app.files.length, 'file')}, ${formatSize(app.bytes)}${left}.`
}
