import { command } from '../command.ts'
import { filledFiles, templateNamed, valueFlags, valuesOf } from './placeholders.ts'

export const show = command({
  name: 'template show',
  summary: 'Print a template as it would be written',
  needs: 'nothing',
  onlyPrints: true,
  args: { name: 'template' },
  flags: valueFlags,
  examples: ['svc template show systemd', 'svc template show nginx --host cloud.example.org'],
  async run({ io, globals, args, flags }) {
    const template = templateNamed(args.name)
    const files = await filledFiles(template, valuesOf(flags, globals))
    const [only, ...others] = files
    const words = others.length === 0 ? only!.text : files.map(({ name, text }) => `--- ${name}\n${text}`).join('\n')
    io.print(words.trimEnd(), { name: args.name, files })
  },
})
