import { nameOfSlug } from '../../kit/app-names.ts'
import { bridge } from '../../kit/bridge.ts'
import { Switch } from '../../kit/field.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { QueryResult, Table } from './controls.tsx'
import { describeAdminError } from './error-texts.ts'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type App = AnswerOf<'admin.apps'>['apps'][number]

const nameOf = ({ source, slug, name }: App): string => (source === 'system' ? nameOfSlug(slug) : name)

const sourceText = ({ source, owner }: App): string =>
  source === 'custom' && owner !== null ? words('source_of', owner) : words(`source_${source}`)

/** All apps of the server, with a switch that disables them for users. */
export function RegisteredApps() {
  const shown = useLiveQuery(() => bridge.call('admin.apps', {}))

  async function toggle(app: App): Promise<void> {
    const { slug, disabled } = app
    const name = nameOf(app)
    const isConfirmed =
      disabled ||
      (await confirm({
        title: words('app_off_title', name),
        text: words('app_off_text'),
        action: words('app_off'),
        danger: true,
      }))
    if (isConfirmed) {
      try {
        await bridge.call(disabled ? 'admin.enable_app' : 'admin.disable_app', { slug })
        toast(words(disabled ? 'app_is_on' : 'app_is_off', name))
      } catch (error) {
        toast(describeAdminError(error), { tone: 'bad' })
      }
    }
    await shown.reload()
  }

  return (
    <QueryResult of={shown}>
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
                {nameOf(app)} <small>{app.slug}</small>
              </th>
              <td>{sourceText(app)}</td>
              <td class="only-wide">{app.version}</td>
              <td class="end">
                {app.slug === 'admin' ? (
                  <small>{words('always_on')}</small>
                ) : (
                  <Switch
                    label={words(app.disabled ? 'off' : 'on')}
                    aria-label={words('app_for_users', nameOf(app))}
                    checked={!app.disabled}
                    onChange={({ currentTarget }) => {
                      // Keep showing the current state until the change has succeeded.
                      currentTarget.checked = !app.disabled
                      void toggle(app)
                    }}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </QueryResult>
  )
}
