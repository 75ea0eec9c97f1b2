import { command } from '../command.ts'

export const list = command({
  name: 'config list',
  summary: 'List every setting with its value and where it comes from',
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc config list', 'svc config list --json'],
  async run({ io, domain }) {
    const settings = await domain.instance.settings.list()
    const takesEffect = ({ option }: (typeof settings)[number]) => (option.live ? 'at once' : 'at start')
    const shown = (one: (typeof settings)[number]) => (one.option.secret && one.value ? '********' : one.shown)
    io.table(
      settings,
      [
        { title: 'SETTING', value: ({ name }) => name },
        { title: 'VALUE', value: (one) => shown(one) || '-' },
        { title: 'SOURCE', value: ({ source }) => source },
        { title: 'TAKES EFFECT', value: takesEffect },
        { title: 'MEANING', value: ({ option }) => option.summary },
      ],
      'There are no settings.',
      settings.map((one) => ({
        name: one.name,
        value: one.option.secret ? shown(one) : one.value,
        source: one.source,
        summary: one.option.summary,
        form: one.option.kind.name,
        takes_effect: takesEffect(one),
      })),
    )
  },
})
