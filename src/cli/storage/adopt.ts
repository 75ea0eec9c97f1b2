import { cancelled, command, flag } from '../command.ts'

export const adopt = command({
  name: 'storage adopt',
  summary: 'Declare that the contents where the settings point belong to this installation',
  details:
    'Contents carry the name of their installation, so that another one does not delete them as garbage if the wrong disk is mounted or the wrong bucket is ' +
    'configured. Adopt them only if no other installation uses them. Contents that no file refers to stay until svc storage gc --confirm-count N.',
  needs: 'domain',
  args: {},
  flags: { yes: flag.yes },
  examples: ['svc storage adopt', 'svc storage adopt --yes'],
  async run({ io, domain: { instance }, flags }) {
    const question = 'Is it certain that no other installation uses these contents, and that they belong to this one?'
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    await instance.adoptContents()
    io.print('The contents now belong to this installation.', { adopted: true })
  },
})
