import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Select } from '../../kit/field.tsx'
import { formatNumber, formatSize } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { FormDialog } from './form-dialog.tsx'
import { DescriptionList, Pager, QuotaUsage, QueryResult, Table } from './controls.tsx'
import { bytesIn, quotaEntryOf, QuotaField } from './quota-field.tsx'
import { useLiveQuery } from './live-query.ts'
import { showUser } from './navigation.ts'
import { words } from './words.ts'

type Usage = AnswerOf<'admin.usage'>

const PAGE_SIZE = 50
const orders = ['used', 'percent', 'growth', 'name'] as const
const usageThresholds = [0, 50, 80, 100] as const

const growthText = (growth: number | null): string =>
  growth === null ? '–' : words('a_day', `${growth < 0 ? '−' : '+'}${formatSize(Math.abs(growth))}`)

function fullText(days: number | null): string {
  if (days === null) return '–'
  return days === 0 ? words('full') : words('days', days)
}

function DefaultQuota({
  bytes,
  onClose,
  onDone,
}: {
  bytes: number | null
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const [quota, setQuota] = useState(quotaEntryOf(bytes, false))
  const wanted = bytesIn(quota)
  return (
    <FormDialog
      title={words('default_quota')}
      text={words('default_quota_text')}
      action={words('save')}
      ready={wanted !== undefined}
      onClose={onClose}
      run={async () => {
        await bridge.call('admin.set_default_quota', { quota_bytes: wanted! })
        toast(words('saved'))
        await onDone()
      }}
    >
      {() => <QuotaField value={quota} hasDefault={false} onChange={setQuota} />}
    </FormDialog>
  )
}

const Totals = ({ usage: { total, disk, default_quota_bytes }, onChange }: { usage: Usage; onChange: () => void }) => (
  <section>
    <DescriptionList
      of={[
        [
          words('in_all'),
          words('sum', formatSize(total.used_bytes), formatNumber(total.files), formatNumber(total.accounts)),
        ],
        [
          words('not_counted'),
          words('trash_and_versions', formatSize(total.trash_bytes), formatSize(total.versions_bytes)),
        ],
        [words('growth'), growthText(total.growth)],
        [words('disk'), words('disk_free', formatSize(disk.free_bytes), formatSize(disk.total_bytes))],
        [words('default_quota'), default_quota_bytes === null ? words('quota_none') : formatSize(default_quota_bytes)],
      ]}
    />
    <div class="action-row">
      <Button onClick={onChange}>{words('change_default')}</Button>
    </div>
  </section>
)

function Row({ account }: { account: Usage['accounts'][number] }) {
  const { user_id, username, used_bytes, quota_bytes, quota_is_default, percent } = account
  return (
    <tr>
      <th scope="row">
        <button type="button" class="who" onClick={() => showUser(user_id)}>
          {username}
        </button>
      </th>
      <td class="share">
        <QuotaUsage used={used_bytes} quota={quota_bytes} isDefault={quota_is_default} />
        {percent !== null && (
          <meter min={0} max={100} high={90} value={Math.min(percent, 100)} aria-label={words('used_share', username)}>
            {percent} %
          </meter>
        )}
      </td>
      <td class="end only-wide">{formatNumber(account.files)}</td>
      <td class="end only-wide">{formatSize(account.trash_bytes + account.versions_bytes)}</td>
      <td class="end only-wide">{growthText(account.growth)}</td>
      <td class="end">{fullText(account.full_in_days)}</td>
    </tr>
  )
}

/** Usage and quota of all accounts. */
export function Quotas() {
  const [view, setView] = useState({ sort: 'used', over: 0, offset: 0 })
  const [isChanging, setChanging] = useState(false)
  const shown = useLiveQuery(() => bridge.call('admin.usage', { ...view, limit: PAGE_SIZE }), {
    key: JSON.stringify(view),
  })
  return (
    <QueryResult of={shown}>
      {(usage) => (
        <>
          <Totals usage={usage} onChange={() => setChanging(true)} />
          <div class="filters">
            <Select
              label={words('show')}
              value={String(view.over)}
              options={usageThresholds.map((over) => ({
                value: String(over),
                label: over === 0 ? words('everybody') : words('over', over),
              }))}
              onChange={({ currentTarget }) => setView({ ...view, over: Number(currentTarget.value), offset: 0 })}
            />
            <Select
              label={words('order')}
              value={view.sort}
              options={orders.map((value) => ({ value, label: words(`order_${value}`) }))}
              onChange={({ currentTarget }) => setView({ ...view, sort: currentTarget.value, offset: 0 })}
            />
          </div>
          {usage.accounts.length === 0 ? (
            <p class="soft">{words('nobody')}</p>
          ) : (
            <Table
              label={words('quotas')}
              head={[
                { title: words('user') },
                { title: words('storage') },
                { title: words('files'), wide: true, end: true },
                { title: words('not_counted'), wide: true, end: true },
                { title: words('growth'), wide: true, end: true },
                { title: words('full_in'), end: true },
              ]}
            >
              {usage.accounts.map((account) => (
                <Row key={account.user_id} account={account} />
              ))}
            </Table>
          )}
          <Pager
            offset={view.offset}
            size={PAGE_SIZE}
            total={usage.matching}
            onMove={(offset) => setView({ ...view, offset })}
          />
          {isChanging && (
            <DefaultQuota bytes={usage.default_quota_bytes} onClose={() => setChanging(false)} onDone={shown.reload} />
          )}
        </>
      )}
    </QueryResult>
  )
}
