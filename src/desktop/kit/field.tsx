import type { ComponentChildren, JSX, LooseInputHTMLAttributes, PartialSelectHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { bridge } from './bridge.ts'

type InputProps = Omit<LooseInputHTMLAttributes<HTMLInputElement>, 'label' | 'role'>

interface Around {
  label: string
  /** Said below the field. */
  hint?: string | undefined
  /** What is wrong with what was entered. */
  problem?: string | undefined
}

function Around({ id, label, hint, problem, children }: Around & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {problem && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

const fieldAttributes = (id: string, { hint, problem }: Around) => ({
  id,
  'aria-invalid': problem !== undefined && problem !== '',
  'aria-describedby': [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined,
})

/** A line of text with its label. */
export function TextField({ label, hint, problem, ...rest }: Around & InputProps) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, problem }}>
      <input {...(rest as object)} {...fieldAttributes(id, { label, hint, problem })} />
    </Around>
  )
}

/** Several lines of text with their label. */
export function TextArea({ label, hint, problem, ...rest }: Around & Omit<JSX.IntrinsicElements['textarea'], 'label'>) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, problem }}>
      <textarea {...rest} {...fieldAttributes(id, { label, hint, problem })} />
    </Around>
  )
}

/** One of several values. */
export function Select({
  label,
  hint,
  problem,
  options,
  ...rest
}: Around &
  Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'label' | 'role'> & {
    options: readonly { value: string; label: string }[]
  }) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, problem }}>
      <select {...rest} {...fieldAttributes(id, { label, hint, problem })}>
        {options.map(({ value, label: shown }) => (
          <option key={value} value={value} selected={value === rest.value}>
            {shown}
          </option>
        ))}
      </select>
    </Around>
  )
}

/** Something that is on or off. */
export function Switch({ label, ...rest }: { label: string } & InputProps) {
  return (
    <label class="switch">
      <input {...(rest as object)} type="checkbox" role="switch" />
      <span>{label}</span>
    </label>
  )
}

/** The line to search with. */
export const SearchField = ({ label, ...rest }: { label: string } & InputProps) => (
  <input type="search" class="search" aria-label={label} placeholder={label} {...(rest as object)} />
)

/** Whose password a form asks for, unseen: what tells a password manager which one to fill in. */
export const HiddenUsername = () => (
  <input
    class="unseen"
    autocomplete="username"
    value={bridge.user.value?.username}
    readOnly
    tabIndex={-1}
    aria-hidden
  />
)
