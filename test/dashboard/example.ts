/** A day of a small installation: what the pictures of the documentation show. */
import { createHash } from 'node:crypto';
import { defined } from '../../src/core/model/defined.ts';
import type { ChangeOrigins } from '../../src/service/api/history-origins.ts';
import type { Origins } from '../../src/core/model/image-origin.ts';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import { readFrom } from '../activity/sample-activity.ts';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { sampleView } from '../bases/api/sample-bases.ts';
import { createTargetRoutes, type TargetRoutesMeans } from '../../src/notify/routes.ts';
import type { PodReport } from '../../src/service/api/pod-view.ts';
import { type Finding, ok, warning } from '../../src/service/doctor/finding.ts';
import { say, sayAge } from '../../src/service/doctor/say.ts';
import type { EventRecord } from '../../src/service/queue/event-record.ts';
import type { PolicyResult } from '../../src/service/queue/event-log.ts';
import { eventTime, recordOf } from '../service/api/fake-events.ts';
import { viewOf } from '../core/rollout/rollout-samples.ts';
import { digestOf } from '../core/model/samples.ts';
import { at, checkout, policies, repositoryOf, workloads } from './example-policies.ts';
import { samplePorts } from '../service/api/sample-policies.ts';

function pushed(
  name: string,
  tag: string,
  minutes: number,
  result: Pick<PolicyResult, 'kind' | 'reason' | 'message'> & Partial<PolicyResult>,
): EventRecord {
  const record = recordOf(`push-${name}-${tag}`.padEnd(20, '0').replaceAll('.', '-'), -minutes * 60, {});
  const repository = repositoryOf(name);
  const full: PolicyResult = { at: at(minutes), afterMs: 41_000, tag, ...result };
  return {
    ...record,
    event: { ...record.event, receiver: 'harbor', repository, tag, pushedAt: at(minutes + 0.1) },
    results: new Map([[`shop/${name}`, full]]),
  };
}

const workload = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'checkout' };
const [newest] = checkout;
const records: readonly EventRecord[] = [
  pushed('search', '3.2.0', 1, { kind: 'updated', reason: 'Progressing', message: 'rolls out', verifiedMs: 240 }),
  pushed('checkout', '2.4.0', 12.5, {
    kind: 'updated',
    reason: 'UpToDate',
    message: 'rolled out',
    stage: 'rollout',
    verifiedMs: 310,
    changes: [{ workload, index: 0, container: 'checkout', from: newest?.from ?? '', to: newest?.to ?? '' }],
  }),
  pushed('cart', '1.9.0', 25, {
    kind: 'waiting',
    reason: 'ApprovalRequired',
    message: '1.9.0 waits for approval',
    stage: 'guard',
    verifiedMs: 280,
  }),
  pushed('payments', '5.1.0', 106, {
    kind: 'failed',
    reason: 'RolloutFailed',
    message:
      'rolled back: harbor.example.com/shop/payments:5.1.0 failed: Deployment shop/payments took longer than 600 s: 1 of 3 updated, 2 of 3 available',
    stage: 'rollout',
    verifiedMs: 260,
  }),
  pushed('stock', '0.9.4', 40, {
    kind: 'waiting',
    reason: 'Window',
    message: '0.9.4 is applied to Deployment shop/stock when the next window opens: 2026-03-01T20:00:00Z',
    stage: 'guard',
  }),
];

/** The pods of the rollout in shop-eu that fails. */
const crashing: readonly PodReport[] = ['kq8zj', 'm4t7w'].map((id) => ({
  name: `payments-7c9d5b6f4-${id}`,
  startedAt: at(105),
  containers: [
    {
      name: 'payments',
      ready: false,
      restarts: 9,
      reason: 'CrashLoopBackOff',
      message: 'back-off 5m0s restarting failed container',
      exitCode: 1,
      log: ['payments 5.1.0 starts', 'reads /etc/payments/config.yaml', 'panic: the setting "currency" is missing'],
    },
  ],
}));

const findings: readonly Finding[] = [
  {
    ...warning(
      'webhooks/received',
      say('webhooks.refused', 'ci', 'generic', sayAge(3_000_000), say('webhooks.401'), 401, say('webhooks.last', sayAge(180_000_000))),
      say('webhooks.401.do'),
    ),
    subject: 'ci',
  },
  ok('redis/answers', say('redis.answers', '7.0.15')),
  ok(
    'certificates/conversion-end',
    say('certificate.valid', say('certificate.conversion'), sayAge(71 * 86_400_000), 'May 11 12:00:00 2026 GMT'),
  ),
];

/** What happened, and what people asked for. */
export const activities: readonly Activity[] = [
  {
    type: 'action',
    at: at(9),
    action: 'rollback',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'checkout' },
    value: 'previous 2026-03-01T11:51:00.000Z',
    user: 'ada@example.com',
    why: 'Payments by card fail since 4.11.1',
  },
  {
    type: 'change',
    at: at(11),
    kind: 'RolloutFailed',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'payments' },
    tag: '2.4.0',
    digest: digestOf('d'),
    from: ['harbor.example.com/shop/payments:2.3.0'],
    workloads: ['Deployment shop/payments'],
    message: 'CrashLoopBackOff: the container payments ended with exit code 1 three times',
    event: 'event-number-00004',
  },
  { type: 'action', at: at(14), action: 'check', subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'cart' }, value: '1' },
  {
    type: 'change',
    at: at(31),
    kind: 'Rebased',
    subject: { kind: 'Image', namespace: 'shop', name: 'harbor.example.com/shop/storefront:7.2.0' },
    tag: '7.2.0',
    base: 'harbor.example.com/library/java:21.0.2',
  },
  {
    type: 'action',
    at: at(45),
    action: 'approve',
    subject: { kind: 'BaseImagePolicy', namespace: 'platform', name: 'java' },
    value: `21.0.2@${digestOf('e')}`,
    user: 'grace@example.com',
    why: 'CVE-2026-1234 is fixed in it',
  },
];

/** Two targets of notifications, one of which does not accept messages. */
export const notifications: TargetRoutesMeans = {
  configured: [
    { name: 'operations', kind: 'slack', events: [], namespaces: [], insecure: false, url: () => '', secret: () => '' },
    { name: 'on-call', kind: 'pagerduty', events: [], namespaces: [], insecure: false, url: () => '', secret: () => '' },
  ],
  namespaced: () => [],
  readResults: () =>
    Promise.resolve([
      { acceptedAt: eventTime - 240_000 },
      {
        acceptedAt: eventTime - 9_000_000,
        failedAt: eventTime - 3_000_000,
        why: 'POST to https://events.pagerduty.com was answered 400: invalid routing key',
      },
    ]),
  test: () => Promise.resolve({ kind: 'sent', message: 'POST to https://hooks.slack.com was answered 200' }),
  now: () => eventTime,
};

/** Where images that wait for approval were built from. */
function originsOf({ name, status }: ImagePolicy): Origins {
  if (status.pendingApproval === undefined) return {};
  const repository = `https://github.com/shop/${name}`;
  return {
    now: { repository, revision: 'f3c1a9e'.padEnd(40, '0'), version: status.pendingApproval.tag },
    before: { repository, revision: '81d7b02'.padEnd(40, '0') },
  };
}

/** Where the images of the history were built from. */
function changeOriginsOf({ name, status: { history = [] } }: ImagePolicy): ChangeOrigins[] {
  const repository = `https://github.com/shop/${name}`;
  const commitOf = (image: string) => ({ repository, revision: createHash('sha1').update(image).digest('hex') });
  return history.map(({ from, to, trigger, digest }) => {
    const before = from === undefined || trigger === 'Rollback' ? undefined : commitOf(from);
    return { to, trigger, ...defined({ from, digest }), origins: { now: commitOf(to), ...defined({ before }) } };
  });
}

/** The installation, for a dashboard. */
export function exampleOptions() {
  const find = (namespace: string, name: string) => policies.find((one) => one.namespace === namespace && one.name === name);
  const read = ({ namespace, name }: { namespace: string; name: string }) =>
    Promise.resolve({
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { namespace, name },
      spec: { image: `harbor.example.com/shop/${name}`, select: { semver: {} }, targets: [{ kind: 'Deployment', name }] },
    });
  const minutes = (count: number) => eventTime - count * 60_000;
  return {
    policies: {
      all: () => policies,
      find,
      read,
      originsOf,
      changeOriginsOf,
      cluster: { ...samplePorts([]).cluster, ...viewOf(...workloads) },
      readPods: () => Promise.resolve(crashing),
    },
    records,
    installation: {
      running: () =>
        Promise.resolve({
          kubernetes: 'v1.34.2',
          redis: '7.0.15',
          processes: [
            { name: 'image-watcher-receive-6d8f9-2xk', version: '1.0.0', roles: ['receive'], startedAt: at(2_000) },
            { name: 'image-watcher-work-7f5bc-8jq', version: '1.0.0', roles: ['work'], startedAt: at(1_990) },
          ],
        }),
      receivers: () =>
        Promise.resolve([
          { name: 'harbor', provider: 'harbor' },
          { name: 'ci', provider: 'generic' },
        ]),
      deliveries: () =>
        Promise.resolve(
          new Map([
            ['harbor', new Map([[202, minutes(1)]])],
            [
              'ci',
              new Map([
                [202, minutes(3_000)],
                [401, minutes(50)],
              ]),
            ],
          ]),
        ),
      announcements: () => Promise.resolve([{ lastPush: minutes(1), unannounced: 0 }]),
    },
    doctor: {
      namespaces: [],
      makeReport: () => Promise.resolve({ version: '1.0.0', checkedAt: at(0), findings, conversion: { why: 'off' } }),
    },
    added: {
      features: ['activity', 'bases', 'notify'],
      routes: [...createActivityRoutes(readFrom(activities)), ...createBaseRoutes(sampleView()), ...createTargetRoutes(notifications)],
    },
    more: { settings: { webhookUrl: 'https://hooks.example.com', teamLabel: 'team' } },
  };
}
