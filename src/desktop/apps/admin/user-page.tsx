import { ArrowLeft } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import type { User } from './user-dialog-props.ts'
import { Badge, DescriptionList, QuotaUsage, QueryResult, StateBadge } from './controls.tsx'
import { RemoveUser } from './remove-user.tsx'
import { useLiveQuery } from './live-query.ts'
import { DisableUser, EditUser, enable, SignOut, unlock } from './user-dialogs.tsx'
import { BypassCode, ChangeRole, ResetFactor, SetPassword } from './access-dialogs.tsx'
import { words } from './words.ts'

type DialogName = 'edit' | 'disable' | 'sign_out' | 'password' | 'role' | 'bypass' | 'reset' | 'remove'

const dialogs = {
  edit: EditUser,
  disable: DisableUser,
  sign_out: SignOut,
  password: SetPassword,
  role: ChangeRole,
  bypass: BypassCode,
  reset: ResetFactor,
} as const

const when = (moment: string | null): string => (moment === null ? words('never') : formatDateTime(moment))

function factorText({ two_factor, backup_codes_left, bypass_until }: User): string {
  if (!two_factor) return words('off')
  const codes = words('codes_left', backup_codes_left)
  return bypass_until === null
    ? `${words('on')}, ${codes}`
    : `${words('on')}, ${codes}, ${words('bypass_until', formatDateTime(bypass_until))}`
}

const UserDetails = ({ user }: { user: User }) => (
  <DescriptionList
    of={[
      [
        words('state'),
        <>
          <StateBadge state={user.state} />
          {user.locked_until !== null && ` ${words('until', formatDateTime(user.locked_until))}`}
        </>,
      ],
      [words('role'), words(`role_${user.role}`)],
      [
        words('storage'),
        <QuotaUsage used={user.used_bytes} quota={user.quota_bytes} isDefault={user.quota_is_default} />,
      ],
      [words('two_factor'), factorText(user)],
      [words('rooms'), String(user.room_count)],
      [words('last_seen'), when(user.last_seen_at)],
      [words('last_login'), when(user.last_login_at)],
      [words('created'), when(user.created_at)],
    ]}
  />
)

const SignIns = ({ user: { sessions, devices } }: { user: User }) => (
  <section>
    <h3>{words('signed_in')}</h3>
    {sessions.length + devices.length === 0 && <p class="soft">{words('nowhere')}</p>}
    <ul class="plain-list">
      {sessions.map(({ created_at, last_used_at, ip, user_agent }) => (
        <li key={`${created_at} ${user_agent} ${ip}`}>
          <strong>{user_agent || words('unknown_browser')}</strong>
          <small>
            {words('browser')} · {ip} · {words('last_used', when(last_used_at))}
          </small>
        </li>
      ))}
      {devices.map(({ device_id, device_name, last_used_at, last_ip }) => (
        <li key={device_id}>
          <strong>{device_name || device_id}</strong>
          <small>
            {words('device')} · {last_ip ?? '–'} · {words('last_used', when(last_used_at))}
          </small>
        </li>
      ))}
    </ul>
  </section>
)

function Actions({
  user,
  start,
  onDone,
}: {
  user: User
  start: (dialog: DialogName) => void
  onDone: () => Promise<void>
}) {
  const isSelf = user.id === bridge.user.value?.id
  const isSignedIn = user.sessions.length + user.devices.length > (isSelf ? 1 : 0)
  const isImporting = user.state === 'importing'
  if (user.state === 'removing') return <p class="soft">{words('is_being_removed')}</p>
  return (
    <section>
      <h3>{words('actions')}</h3>
      <div class="action-row">
        <Button onClick={() => start('edit')}>{words('edit')}</Button>
        {user.state === 'locked' && <Button onClick={() => void unlock(user, onDone)}>{words('unlock')}</Button>}
        {isSignedIn && <Button onClick={() => start('sign_out')}>{words('sign_out')}</Button>}
        {!isSelf && (
          <>
            <Button onClick={() => start('password')}>{words('set_password')}</Button>
            <Button onClick={() => start('role')}>{words(user.role === 'admin' ? 'make_user' : 'make_admin')}</Button>
            {user.two_factor && user.state !== 'disabled' && !isImporting && (
              <Button onClick={() => start('bypass')}>{words('bypass')}</Button>
            )}
            {user.two_factor && (
              <Button kind="danger" onClick={() => start('reset')}>
                {words('reset_2fa')}
              </Button>
            )}
            {user.state === 'disabled' && <Button onClick={() => void enable(user, onDone)}>{words('enable')}</Button>}
            {user.state !== 'disabled' && !isImporting && (
              <Button kind="danger" onClick={() => start('disable')}>
                {words('disable')}
              </Button>
            )}
            <Button kind="danger" onClick={() => start('remove')}>
              {words('remove')}
            </Button>
          </>
        )}
      </div>
      {isSelf && <p class="soft">{words('own_account')}</p>}
      {isImporting && <p class="soft">{words('is_being_imported')}</p>}
    </section>
  )
}

/** An account and its actions. */
export function UserPage({ id, onBack }: { id: number; onBack: () => void }) {
  const shown = useLiveQuery(() => bridge.call('admin.user', { user_id: id }), { interval: 30_000 })
  const [dialog, setDialog] = useState<DialogName | undefined>(undefined)
  const heading = useRef<HTMLHeadingElement>(null)
  const isLoaded = shown.value !== undefined
  useEffect(() => heading.current?.focus(), [isLoaded])
  const about = { onClose: () => setDialog(undefined), onDone: shown.reload }
  const Open = dialog === undefined || dialog === 'remove' ? undefined : dialogs[dialog]
  return (
    <>
      <div class="user-head">
        <IconButton icon={ArrowLeft} label={words('all_users')} onClick={onBack} />
        {shown.value && (
          <h3 ref={heading} tabIndex={-1}>
            <span class="dot" style={{ background: shown.value.user.avatar_color }} aria-hidden="true" />
            {shown.value.user.display_name} <small>{shown.value.user.username}</small>
            {shown.value.user.role === 'admin' && <Badge tone="warn">{words('role_admin')}</Badge>}
          </h3>
        )}
      </div>
      <QueryResult of={shown}>
        {({ user }) => (
          <>
            <UserDetails user={user} />
            <Actions user={user} start={setDialog} onDone={shown.reload} />
            <SignIns user={user} />
            {Open && <Open user={user} {...about} />}
            {dialog === 'remove' && <RemoveUser user={user} onClose={about.onClose} onRemoved={onBack} />}
          </>
        )}
      </QueryResult>
    </>
  )
}
