import type { ComponentChildren, JSX, LooseInputHTMLAttributes, PartialSelectHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { bridge } from './bridge.ts'

type Line = Omit<LooseInputHTMLAttributes<HTMLInputElement>, 'label' | 'role'>

interface Around {
  label: string
  /** Said below the field. */
  hint?: string | undefined
  /** What is wrong with what was entered. */
  flaw?: string | undefined
}

function Around({ id, label, hint, flaw, children }: Around & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {flaw && (
        <p class="flaw" id={`${id}-flaw`} role="alert">
          {flaw}
        </p>
      )}
    </div>
  )
}

const described = (id: string, { hint, flaw }: Around) => ({
  id,
  'aria-invalid': flaw !== undefined && flaw !== '',
  'aria-describedby': [hint && `${id}-hint`, flaw && `${id}-flaw`].filter(Boolean).join(' ') || undefined,
})

/** A line of text with its label. */
export function TextField({ label, hint, flaw, ...rest }: Around & Line) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, flaw }}>
      <input {...(rest as object)} {...described(id, { label, hint, flaw })} />
    </Around>
  )
}

/** Several lines of text with their label. */
export function TextArea({ label, hint, flaw, ...rest }: Around & Omit<JSX.IntrinsicElements['textarea'], 'label'>) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, flaw }}>
      <textarea {...rest} {...described(id, { label, hint, flaw })} />
    </Around>
  )
}

/** One of several values. */
export function Select({
  label,
  hint,
  flaw,
  options,
  ...rest
}: Around &
  Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'label' | 'role'> & {
    options: readonly { value: string; label: string }[]
  }) {
  const id = useId()
  return (
    <Around {...{ id, label, hint, flaw }}>
      <select {...rest} {...described(id, { label, hint, flaw })}>
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
export function Switch({ label, ...rest }: { label: string } & Line) {
  return (
    <label class="switch">
      <input {...(rest as object)} type="checkbox" role="switch" />
      <span>{label}</span>
    </label>
  )
}

/** The line to search with. */
export const SearchField = ({ label, ...rest }: { label: string } & Line) => (
  <input type="search" class="search" aria-label={label} placeholder={label} {...(rest as object)} />
)

/** Whose password a form asks for, unseen: what tells a password manager which one to fill in. */
export const OwnName = () => (
  <input
    class="unseen"
    autocomplete="username"
    value={bridge.user.value?.username}
    readOnly
    tabIndex={-1}
    aria-hidden
  />
)
