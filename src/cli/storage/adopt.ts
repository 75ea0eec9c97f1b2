import { cancelled, command, flag } from '../command.ts'

export const adopt = command({
  name: 'storage adopt',
  summary: 'Declare that the contents where the settings point belong to this installation',
  details:
    'Contents carry the name of their installation, so that no other takes them for garbage when the wrong disk is mounted or the wrong bucket is ' +
    'named. Adopt them only when no other installation uses them. What no file here points to stays until svc storage gc --confirm-count N.',
  needs: 'domain',
  args: {},
  flags: { yes: flag.yes },
  examples: ['svc storage adopt', 'svc storage adopt --yes'],
  async run({ io, domain: { instance }, flags }) {
    const question = 'Does no other installation use these contents, and do they belong to this one?'
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    await instance.adoptContents()
    io.print('The contents belong to this installation now.', { adopted: true })
  },
})
