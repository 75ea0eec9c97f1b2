import { bridge } from '../../kit/bridge.ts'
import { Switch } from '../../kit/field.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { Shown, Table } from './parts.tsx'
import { said } from './said.ts'
import { useShown } from './shown.ts'
import { words } from './words.ts'

type App = AnswerOf<'admin.apps'>['apps'][number]

const sourceText = ({ source, owner }: App): string =>
  source === 'custom' && owner !== null ? words('source_of', owner) : words(`source_${source}`)

/** Every app of the service, and whether users have it. */
export function Apps() {
  const shown = useShown(() => bridge.call('admin.apps', {}))

  async function turn({ slug, name, disabled }: App): Promise<void> {
    const isSure =
      disabled ||
      (await confirm({
        title: words('app_off_title', name),
        text: words('app_off_text'),
        action: words('app_off'),
        danger: true,
      }))
    if (isSure) {
      try {
        await bridge.call(disabled ? 'admin.enable_app' : 'admin.disable_app', { slug })
        toast(words(disabled ? 'app_is_on' : 'app_is_off', name))
      } catch (error) {
        toast(said(error), { tone: 'bad' })
      }
    }
    await shown.reload()
  }

  return (
    <Shown of={shown}>
      {({ apps }) => (
        <Table
          label={words('apps')}
          head={[
            { title: words('app') },
            { title: words('source') },
            { title: words('version'), wide: true },
            { title: words('for_users'), end: true },
          ]}
        >
          {apps.map((app) => (
            <tr key={app.slug}>
              <th scope="row">
                {app.name} <small>{app.slug}</small>
              </th>
              <td>{sourceText(app)}</td>
              <td class="only-wide">{app.version}</td>
              <td class="end">
                {app.slug === 'admin' ? (
                  <small>{words('always_on')}</small>
                ) : (
                  <Switch
                    label={words(app.disabled ? 'off' : 'on')}
                    aria-label={words('app_for_users', app.name)}
                    checked={!app.disabled}
                    onChange={({ currentTarget }) => {
                      // It shows what is, not what is asked for.
                      currentTarget.checked = !app.disabled
                      void turn(app)
                    }}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Shown>
  )
}
