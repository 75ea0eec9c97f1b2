import { expect, test } from 'vitest'
import { makeRequestTimes } from '../../src/http/service/request-times.ts'

test('buckets are cumulative and include their bound', () => {
  const times = makeRequestTimes()
  for (const seconds of [0.0005, 0.001, 0.3, 90]) times.observe('/api/x.php', 'list', 200, seconds)
  times.observe('/healthz', '', 503, 0.25)
  expect(times.text().split('\n')).toEqual([
    '# HELP svc_request_seconds Time from the first byte of a request to the end of its answer.',
    '# TYPE svc_request_seconds histogram',
    ...[
      ['0.001', 2],
      ['0.005', 2],
      ['0.02', 2],
      ['0.1', 2],
      ['0.5', 3],
      ['2', 3],
      ['10', 3],
      ['60', 3],
      ['+Inf', 4],
    ].map(
      ([le, count]) => `svc_request_seconds_bucket{le="${le}",route="/api/x.php",action="list",status="200"} ${count}`,
    ),
    'svc_request_seconds_sum{route="/api/x.php",action="list",status="200"} 90.3015',
    'svc_request_seconds_count{route="/api/x.php",action="list",status="200"} 4',
    ...['0.001', '0.005', '0.02', '0.1'].map(
      (le) => `svc_request_seconds_bucket{le="${le}",route="/healthz",action="",status="503"} 0`,
    ),
    ...['0.5', '2', '10', '60', '+Inf'].map(
      (le) => `svc_request_seconds_bucket{le="${le}",route="/healthz",action="",status="503"} 1`,
    ),
    'svc_request_seconds_sum{route="/healthz",action="",status="503"} 0.25',
    'svc_request_seconds_count{route="/healthz",action="",status="503"} 1',
    '',
  ])
})
