import { command } from '../command.ts'
import { catalogue } from './catalogue.ts'

export const list = command({
  name: 'template list',
  summary: 'Configuration files to start from: services, proxies, containers, samples',
  needs: 'nothing',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc template list'],
  run({ io }) {
    const rows = Object.entries(catalogue).map(([name, { summary, files }]) => ({
      name,
      summary,
      files: Object.keys(files),
    }))
    io.table(
      rows,
      [
        { title: 'TEMPLATE', value: ({ name }) => name },
        { title: 'WHAT IT IS', value: ({ summary }) => summary },
        { title: 'FILES', value: ({ files }) => shortly(files) },
      ],
      'There are no templates.',
    )
    return Promise.resolve()
  },
})

function shortly(files: readonly string[]): string {
  const folders = new Set(files.map((file) => file.slice(0, file.indexOf('/') + 1)))
  return folders.size === 1 && !folders.has('') ? [...folders].join('') : files.join(', ')
}
