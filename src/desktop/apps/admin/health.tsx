import { CircleAlert, CircleCheck, CircleX } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Icon } from '../../kit/icon.tsx'
import { language } from '../../kit/language.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { checkName } from './check-words.ts'
import { germanFinding } from './german-finding.ts'
import { QueryResult } from './controls.tsx'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type Finding = AnswerOf<'admin.doctor'>['checks'][number]

const pictures = { ok: CircleCheck, warning: CircleAlert, failure: CircleX } as const
const localized = (text: string): string => (language.value === 'de' ? germanFinding(text) : text)
const worstFirst = ['failure', 'warning', 'ok'] as const

function overallHealth(checks: readonly Finding[]): { health: Finding['health']; text: string } {
  const count = (health: Finding['health']) => checks.filter((check) => check.health === health).length
  const [failures, warnings] = [count('failure'), count('warning')]
  if (failures > 0) return { health: 'failure', text: words('some_failures', failures, warnings) }
  if (warnings > 0) return { health: 'warning', text: words('some_warnings', warnings) }
  return { health: 'ok', text: words('all_well') }
}

const Check = ({ check: { id, summary, health, found, remedy } }: { check: Finding }) => (
  <li class={health}>
    <Icon of={pictures[health]} size={22} />
    <div>
      <strong>{checkName(id, summary)}</strong>
      <span class="unseen">{words(`health_${health}`)}</span>
      <p>{localized(found)}</p>
      {remedy !== null && (
        <p>
          {words('remedy')} {localized(remedy)}
        </p>
      )}
    </div>
  </li>
)

/** Results of the checks, most severe first. */
export function Health() {
  const shown = useLiveQuery(() => bridge.call('admin.doctor', {}))
  return (
    <QueryResult of={shown}>
      {({ checks }) => {
        const { health, text } = overallHealth(checks)
        const sorted = worstFirst.flatMap((wanted) => checks.filter((check) => check.health === wanted))
        return (
          <>
            <section class={`standing ${{ ok: 'good', warning: 'warn', failure: 'bad' }[health]}`}>
              <p role="status">
                <Icon of={pictures[health]} size={22} />
                <strong>{text}</strong>
              </p>
            </section>
            <ul class="checks" aria-busy={shown.busy}>
              {sorted.map((check) => (
                <Check key={check.id} check={check} />
              ))}
            </ul>
          </>
        )
      }}
    </QueryResult>
  )
}
