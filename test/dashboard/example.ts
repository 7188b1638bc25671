/** A day of a small installation: what the pictures of the documentation show. */
import { strategies } from '../../src/core/select/strategies/index.ts';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import { readFrom } from '../activity/sample-activity.ts';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { sampleView } from '../bases/api/sample-bases.ts';
import { scopeOf, type ImagePolicy } from '../../src/core/model/image-policy.ts';
import type { Condition, HistoryEntry } from '../../src/core/model/policy-status.ts';
import type { Finding } from '../../src/service/doctor/finding.ts';
import type { EventRecord } from '../../src/service/queue/event-record.ts';
import type { PolicyResult } from '../../src/service/queue/event-log.ts';
import { eventTime, recordOf } from '../service/api/fake-events.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { viewOf } from '../core/rollout/rollout-samples.ts';
import { samplePorts } from '../service/api/sample-policies.ts';

const repositoryOf = (name: string) => ({ registry: 'harbor.example.com', path: `shop/${name}` });
const at = (minutesBeforeNoon: number) => new Date(eventTime - minutesBeforeNoon * 60_000).toISOString().replace('.000Z', 'Z');
const condition = (
  type: string,
  reason: Condition['reason'],
  message: string,
  minutes: number,
  status: 'True' | 'False' = 'True',
): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at(minutes),
});
const ready = (version: string, minutes: number) => condition('Ready', 'UpToDate', `all containers run ${version}`, minutes);

interface Change {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly minutes: number;
  readonly result?: HistoryEntry['result'];
}

function change({ name, from, to, minutes, result = 'RolledOut' }: Change): HistoryEntry {
  const image = `harbor.example.com/shop/${name}`;
  const container = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name, container: name };
  return { ...container, from: `${image}:${from}`, to: `${image}:${to}`, tag: to, trigger: 'Webhook', at: at(minutes), result };
}

function policy(name: string, status: ImagePolicy['status'], spec: Parameters<typeof specOf>[0] = {}, namespace = 'shop'): ImagePolicy {
  const repository = repositoryOf(name);
  const targets = [{ kind: 'Deployment', namespace, name }];
  return policyOf({ namespace, name, uid: `uid-${namespace}-${name}`, spec: specOf({ repository, targets, ...spec }), status });
}

/** A policy whose registry has been down for 26 minutes. */
const unanswered = (name: string, namespace: string): ImagePolicy => {
  const message = 'mirror.example.com does not answer: the connection is refused (10.2.0.7:443); asked again at 12:01:00Z';
  const conditions = [
    condition('Ready', 'RegistryUnavailable', message, 26, 'False'),
    condition('Reconciling', 'RegistryUnavailable', message, 26),
  ];
  const repository = { registry: 'mirror.example.com', path: `${namespace}/${name}` };
  return policy(name, { conditions, running: '1.4.0' }, { repository }, namespace);
};

const checkout = [
  change({ name: 'checkout', from: '2.3.1', to: '2.4.0', minutes: 12 }),
  change({ name: 'checkout', from: '2.3.0', to: '2.3.1', minutes: 190 }),
  change({ name: 'checkout', from: '2.2.7', to: '2.3.0', minutes: 700 }),
];

/** A policy of the storefront in another namespace, in order. */
const storefront = (namespace: string, tag: string, minutes: number) => {
  const latest = { tag, digest: digestOf(tag.includes('rc') ? '9' : 'f'), selectedAt: at(minutes) };
  const spec = { strategy: strategies.semver({ range: '>=0.0.1', prereleases: tag.includes('rc') }) };
  const history = [change({ name: 'storefront', from: '7.0.0', to: tag, minutes: minutes - 1 })];
  return policy('storefront', { conditions: [ready(tag, minutes - 2)], running: tag, latest, history }, spec, namespace);
};

/** Policies in most states. */
const policies: readonly ImagePolicy[] = [
  policy(
    'cart',
    {
      conditions: [ready('1.8.2', 300), condition('ApprovalRequired', 'ApprovalRequired', '1.9.0 waits for approval', 25)],
      running: '1.8.2',
      latest: { tag: '1.9.0', digest: digestOf('b'), selectedAt: at(25) },
      pendingApproval: { tag: '1.9.0', digest: digestOf('b') },
      history: [change({ name: 'cart', from: '1.8.1', to: '1.8.2', minutes: 300 })],
    },
    { mode: 'Approval' },
  ),
  policy('checkout', {
    conditions: [ready('2.4.0', 11)],
    running: '2.4.0',
    latest: { tag: '2.4.0', digest: digestOf('a'), selectedAt: at(12) },
    history: checkout,
    lastCheckTime: at(12),
    targetCounts: { total: 1, upToDate: 1, problems: 0 },
    targets: [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'checkout',
        container: 'checkout',
        image: 'harbor.example.com/shop/checkout:2.4.0',
        state: 'UpToDate',
      },
    ],
  }),
  policy('payments', {
    conditions: [
      condition(
        'Ready',
        'RolloutFailed',
        'rolled back from 5.1.0: Deployment shop/payments: 0 of 3 pods became ready within 10m',
        95,
        'False',
      ),
      condition('Stalled', 'RolloutFailed', 'rolled back from 5.1.0: Deployment shop/payments: 0 of 3 pods became ready within 10m', 95),
    ],
    running: '5.0.4',
    rollouts: { progressing: 0, done: 0, failed: 0, rolledBack: 1 },
    latest: { tag: '5.1.0', digest: digestOf('c'), selectedAt: at(106) },
    history: [
      { ...change({ name: 'payments', from: '5.1.0', to: '5.0.4', minutes: 95 }), trigger: 'Rollback' },
      change({ name: 'payments', from: '5.0.4', to: '5.1.0', minutes: 106, result: 'RolledBack' }),
    ],
  }),
  policy('search', {
    conditions: [
      condition('Ready', 'Progressing', 'rolls out 3.2.0: 2 of 6 pods', 1, 'False'),
      condition('Reconciling', 'Progressing', 'rolls out 3.2.0: 2 of 6 pods', 1),
    ],
    running: '3.1.4, 3.2.0',
    rollouts: { progressing: 4, done: 2, failed: 0, rolledBack: 0 },
    latest: { tag: '3.2.0', digest: digestOf('d'), selectedAt: at(1) },
    history: [change({ name: 'search', from: '3.1.4', to: '3.2.0', minutes: 1, result: 'Applied' })],
  }),
  policy('stock', {
    conditions: [
      condition('Ready', 'Window', 'waits for the window that opens at 20:00', 40, 'False'),
      condition('Reconciling', 'Window', 'waits for the window that opens at 20:00', 40),
    ],
    running: '0.9.3',
    latest: { tag: '0.9.4', digest: digestOf('e'), selectedAt: at(40) },
    waiting: { tag: '0.9.4', digest: digestOf('e'), until: at(-480), reason: 'Window' },
  }),
  policy(
    'payments',
    {
      conditions: [
        condition('Ready', 'RolloutFailed', 'the rollout of 5.1.0 failed: 3 of 3 pods crash: exit code 1', 93, 'False'),
        condition('Stalled', 'RolloutFailed', 'the rollout of 5.1.0 failed: 3 of 3 pods crash: exit code 1', 93),
      ],
      running: '5.1.0',
      rollouts: { progressing: 0, done: 0, failed: 2, rolledBack: 0 },
      latest: { tag: '5.1.0', digest: digestOf('c'), selectedAt: at(106) },
      history: [change({ name: 'payments', from: '5.0.4', to: '5.1.0', minutes: 105, result: 'Failed' })],
    },
    {},
    'shop-eu',
  ),
  unanswered('fonts', 'shop'),
  unanswered('icons', 'shop'),
  unanswered('mailer', 'ops'),
  policy('storefront', {
    conditions: [ready('7.0.1', 1_900)],
    running: '7.0.1',
    latest: { tag: '7.0.1', digest: digestOf('f'), selectedAt: at(1_900) },
  }),
  storefront('shop-eu', '7.0.1', 1_870),
  storefront('staging', '7.1.0-rc.1', 200),
  policy(
    'storefront',
    {
      conditions: [
        condition('Ready', 'Window', 'waits for the window that opens at 20:00', 1_890, 'False'),
        condition('Reconciling', 'Window', 'waits for the window that opens at 20:00', 1_890),
      ],
      running: '7.0.0',
      latest: { tag: '7.0.1', digest: digestOf('f'), selectedAt: at(1_890) },
      history: [change({ name: 'storefront', from: '6.9.4', to: '7.0.0', minutes: 9_000 })],
    },
    { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] },
    'shop-us',
  ),
];

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
    message: 'rolled back from 5.1.0: Deployment shop/payments: 0 of 3 pods became ready within 10m',
    stage: 'rollout',
    verifiedMs: 260,
  }),
  pushed('stock', '0.9.4', 40, { kind: 'waiting', reason: 'Window', message: 'waits for the window that opens at 20:00', stage: 'guard' }),
];

const findings: readonly Finding[] = [
  {
    line: 'webhooks/received',
    level: 'warning',
    subject: 'ci',
    message: 'ci (generic): the last delivery, 50 min ago, was refused as not authentic (401); the last push was accepted 2 days ago',
    action: 'compare the secret at the registry with receivers[].secrets',
  },
  { line: 'redis/answers', level: 'ok', message: 'Redis answers' },
];

/** The Deployment of each policy, with what it runs. */
const workloads = policies.map(({ namespace, name, spec, status: { running = '', history = [], latest } }) => {
  const { registry, path } = scopeOf(spec)?.repository ?? repositoryOf(name);
  const image = `${registry}/${path}:${running.split(', ')[0]}`;
  const imageSetAt = history[0]?.at ?? latest?.selectedAt ?? at(3_000);
  return workloadOf({ [name]: { image, imageSetAt } }, { namespace, name, uid: `uid-of-${namespace}-${name}` });
});

/** What happened, and what people asked for. */
const activities: readonly Activity[] = [
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
    policies: { all: () => policies, find, read, cluster: { ...samplePorts([]).cluster, ...viewOf(...workloads) } },
    records,
    installation: {
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
      features: ['activity', 'bases'],
      routes: [...createActivityRoutes(readFrom(activities)), ...createBaseRoutes(sampleView())],
    },
    more: { settings: { webhookUrl: 'https://hooks.example.com', teamLabel: 'team' } },
  };
}
