/** What pages weigh on the wire. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import { readFrom, timeAt } from '../activity/sample-activity.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { recordOf } from '../service/api/fake-events.ts';
import { openDashboard } from './start-dashboard.ts';

const message = 'the container web of Deployment shop/web ended with exit code 1 three times: CrashLoopBackOff';
const policies = Array.from({ length: 100 }, (_, index) =>
  policyOf({
    namespace: `team-${index % 30}`,
    name: `service-${index}`,
    uid: `uid-${index}`,
    spec: specOf({ repository: { registry: 'harbor.example.com', path: `team/service-${index}` } }),
    status: {
      running: `1.${index}.0`,
      latest: { tag: `1.${index}.1`, digest: digestOf('b'), selectedAt: '2026-03-01T11:00:00Z' },
      conditions: [
        {
          type: 'Stalled',
          status: 'True',
          reason: 'RolloutFailed',
          message: `${index}: ${message}`,
          lastTransitionTime: '2026-03-01T11:00:00Z',
        },
      ],
    },
  }),
);
const records = policies.map(({ namespace, name }, index) =>
  recordOf(`event-number-${10_000 + index}`, -index, { [`${namespace}/${name}`]: 'updated' }),
);
const activities = policies.map(
  ({ namespace, name }, index) =>
    ({
      type: 'change',
      at: timeAt(-index),
      kind: 'RolloutFailed',
      subject: { kind: 'ImagePolicy', namespace, name },
      tag: `1.${index}.1`,
      message: `${index}: ${message}`,
    }) as const,
);
const open = (t: Parameters<typeof openDashboard>[0]) =>
  openDashboard(t, {
    policies: { all: () => policies, find: (namespace, name) => policies.find((one) => one.namespace === namespace && one.name === name) },
    records,
    added: { features: ['activity'], routes: createActivityRoutes(readFrom(activities)) },
  });
const forms = { br: brotliDecompressSync, gzip: gunzipSync };

for (const [encoding, expand] of Object.entries(forms))
  test(`every page with a hundred rows is smaller than 60 kB with ${encoding}, with unchanged content`, async (t) => {
    const { app, get } = open(t);
    for (const url of [
      '/',
      '/policies',
      '/images',
      '/activity',
      '/events',
      '/approvals',
      '/setup',
      '/api-reference',
      '/api-reference/getPolicy',
      '/assets/dashboard.css',
      '/assets/dashboard.js',
    ]) {
      const answer = await app.inject({ url, headers: { host: 'localhost:9090', 'accept-encoding': encoding } });
      assert.equal(answer.headers['content-encoding'], encoding, url);
      assert.ok(answer.rawPayload.length < 60_000, `${url}: ${answer.rawPayload.length}`);
      const plain = await get(url);
      assert.equal(expand(answer.rawPayload).toString().length, plain.text.length, url);
      assert.equal(answer.headers.etag, plain.headers.etag, url);
    }
  });

test('a compressed page that the browser has in its cache is not sent again', async (t) => {
  const { get } = open(t);
  const { headers } = await get('/policies');
  const again = await get('/policies', { 'if-none-match': String(headers.etag), 'accept-encoding': 'br' });
  assert.deepEqual([again.status, again.text], [304, '']);
});
