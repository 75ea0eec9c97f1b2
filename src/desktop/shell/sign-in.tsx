import { CloudOff, Eye, EyeOff, KeyRound, LockKeyhole } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, IconButton } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Icon } from '../kit/icon.tsx'
import { describeError, ApiError } from '../kit/api-error.ts'
import { common } from '../kit/words.ts'
import {
  awaitsCode,
  resumeSession,
  confirmCode,
  isEndDue,
  lock,
  signIn,
  signOut,
  stage,
  backToPassword,
  user,
} from './session.ts'
import { words } from './words.ts'

const Logo = () => (
  <svg class="mark" viewBox="0 0 32 32" width="52" height="52" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M8 21a5 5 0 0 1 1-9.9A7 7 0 0 1 22.4 13 4.2 4.2 0 0 1 22 21z" />
  </svg>
)

const Card = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <main class="gate">
    <div class="gate-card">
      <Logo />
      <h1>{title}</h1>
      {children}
    </div>
  </main>
)

/** Submits a form once at a time and keeps its error. */
function useSubmit(run: () => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(undefined)
    run()
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const said = error === undefined ? undefined : error
  const message = said instanceof ApiError && said.code === 'maintenance' ? said.message : describeError(said)
  return { busy, submit, problem: said === undefined ? undefined : message, clear: () => setError(undefined) }
}

/** User name and password; on a locked desktop only the password. */
function PasswordForm() {
  const known = user.value?.username
  const [username, setUsername] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [shown, setShown] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const { busy, submit, problem } = useSubmit(async () => {
    try {
      await signIn(username.trim(), password)
    } catch (error) {
      setPassword('')
      form.current?.querySelector<HTMLInputElement>('[name=password]')?.focus()
      throw error
    }
  })
  useEffect(() => form.current?.querySelector<HTMLInputElement>(known ? '[name=password]' : 'input')?.focus(), [])

  return (
    <form ref={form} class="form" onSubmit={submit}>
      <div hidden={known !== undefined}>
        <TextField
          label={words('username')}
          name="username"
          value={username}
          required
          maxLength={64}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          onText={setUsername}
        />
      </div>
      <div class="with-button">
        <TextField
          label={words('password')}
          name="password"
          type={shown ? 'text' : 'password'}
          value={password}
          required
          maxLength={1024}
          autocomplete="current-password"
          problem={problem}
          onText={setPassword}
        />
        <IconButton
          icon={shown ? EyeOff : Eye}
          label={words('show_password')}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        />
      </div>
      <Button kind="main" type="submit" busy={busy}>
        {words('sign_in')}
      </Button>
    </form>
  )
}

function CodeForm() {
  const [code, setCode] = useState('')
  const { busy, submit, problem } = useSubmit(() => confirmCode(code.replaceAll(' ', '')))
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  return (
    <form ref={form} class="form" onSubmit={submit}>
      <p class="soft">{words('second_factor_text')}</p>
      <TextField
        label={words('code')}
        name="code"
        value={code}
        required
        maxLength={20}
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck={false}
        problem={problem}
        onText={setCode}
      />
      <Button kind="main" type="submit" icon={KeyRound} busy={busy}>
        {words('confirm')}
      </Button>
      <Button kind="quiet" onClick={backToPassword}>
        {common('back')}
      </Button>
    </form>
  )
}

/** Covers a desktop that is locked or whose session has expired. */
export function LockScreen() {
  const name = user.value?.display_name ?? ''
  const isLocked = lock.value === 'locked'
  return (
    <div class="cover">
      <Card title={isLocked ? words('locked') : words('expired')}>
        <p class="soft">
          <Icon of={LockKeyhole} /> {isLocked ? words('locked_text', name) : words('expired_text', name)}
        </p>
        {isEndDue.value && isLocked && <p>{words('end_due_text')}</p>}
        {awaitsCode.value ? <CodeForm /> : <PasswordForm />}
        <Button kind="quiet" onClick={() => void signOut()}>
          {words('other_account')}
        </Button>
      </Card>
    </div>
  )
}

/** The screens before the desktop. */
export function SignInScreen() {
  switch (stage.value) {
    case 'signed-out':
      return (
        <Card title={words('welcome')}>
          <PasswordForm />
        </Card>
      )
    case 'second-factor':
      return (
        <Card title={words('second_factor')}>
          <CodeForm />
        </Card>
      )
    case 'not-set-up':
      return (
        <Card title={words('not_set_up')}>
          <p>{words('not_set_up_text')}</p>
          <code>svc user add NAME --role admin</code>
          <Button kind="main" onClick={() => void resumeSession()}>
            {common('retry')}
          </Button>
        </Card>
      )
    case 'unreachable':
      return (
        <Card title={words(isEndDue.value ? 'end_due' : 'unreachable')}>
          <p class="soft">
            <Icon of={CloudOff} /> {words(isEndDue.value ? 'end_due_text' : 'unreachable_text')}
          </p>
          <Button kind="main" onClick={() => void resumeSession()}>
            {common('retry')}
          </Button>
        </Card>
      )
    default:
      return (
        <main class="gate" aria-busy="true">
          <h1 class="unseen">{words('starting')}</h1>
        </main>
      )
  }
}
