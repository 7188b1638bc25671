/** The policies of a small installation and their Deployments, in most states: a part of what the pictures of the documentation show. */
import { scopeOf, type ImagePolicy } from '../../src/core/model/image-policy.ts';
import type { Condition, HistoryEntry } from '../../src/core/model/policy-status.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { eventTime } from '../service/api/fake-events.ts';

export const repositoryOf = (name: string) => ({ registry: 'harbor.example.com', path: `shop/${name}` });
export const at = (minutesBeforeNoon: number) => new Date(eventTime - minutesBeforeNoon * 60_000).toISOString().replace('.000Z', 'Z');
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
  readonly namespace?: string;
}

function change({ name, from, to, minutes, result = 'RolledOut', namespace = 'shop' }: Change): HistoryEntry {
  const image = `harbor.example.com/shop/${name}`;
  const container = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name, container: name };
  return { ...container, from: `${image}:${from}`, to: `${image}:${to}`, tag: to, trigger: 'Webhook', at: at(minutes), result };
}

function policy(name: string, status: ImagePolicy['status'], spec: Parameters<typeof specOf>[0] = {}, namespace = 'shop'): ImagePolicy {
  const repository = repositoryOf(name);
  const targets = [{ kind: 'Deployment', namespace, name }];
  return policyOf({ namespace, name, uid: `uid-${namespace}-${name}`, spec: specOf({ repository, targets, ...spec }), status });
}

/** A policy whose registry has been down for 26 minutes. */
const unanswered = (name: string, namespace: string): ImagePolicy => {
  const message = 'cannot connect to mirror.example.com: the connection was refused; the next try is at 12:01:00Z';
  const conditions = [
    condition('Ready', 'RegistryUnavailable', message, 26, 'False'),
    condition('Reconciling', 'RegistryUnavailable', message, 26),
  ];
  const repository = { registry: 'mirror.example.com', path: `${namespace}/${name}` };
  return policy(name, { conditions, running: '1.4.0' }, { repository }, namespace);
};

export const checkout = [
  change({ name: 'checkout', from: '2.3.1', to: '2.4.0', minutes: 12 }),
  change({ name: 'checkout', from: '2.3.0', to: '2.3.1', minutes: 190 }),
  change({ name: 'checkout', from: '2.2.7', to: '2.3.0', minutes: 700 }),
];

/** A policy of the storefront in another namespace, in order. */
const storefront = (namespace: string, tag: string, minutes: number) => {
  const latest = { tag, digest: digestOf(tag.includes('rc') ? '9' : 'f'), selectedAt: at(minutes) };
  const spec = { strategy: strategies.semver({ range: '>=0.0.1', prereleases: tag.includes('rc') }) };
  const history = [change({ name: 'storefront', from: '7.0.0', to: tag, minutes: minutes - 1, namespace })];
  return policy('storefront', { conditions: [ready(tag, minutes - 2)], running: tag, latest, history }, spec, namespace);
};

/** Policies in most states. */
export const policies: readonly ImagePolicy[] = [
  policy(
    'cart',
    {
      conditions: [ready('1.8.2', 300), condition('ApprovalRequired', 'ApprovalRequired', '1.9.0 waits for approval', 25)],
      running: '1.8.2',
      latest: { tag: '1.9.0', digest: digestOf('b'), selectedAt: at(25) },
      pendingApproval: { tag: '1.9.0', digest: digestOf('b') },
      approvals: {
        tag: '1.9.0',
        digest: digestOf('b'),
        since: at(25),
        generation: 1,
        required: 2,
        given: [{ user: 'ada@example.com', at: at(20), seenAt: at(20), reason: 'tested on staging' }],
        until: at(-2_860),
      },
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
        'the rollout of harbor.example.com/shop/payments:5.1.0 failed: Deployment shop/payments took longer than 600 s: 1 of 3 updated, 2 of 3 available',
        95,
        'False',
      ),
      condition(
        'Stalled',
        'RolloutFailed',
        'the rollout of harbor.example.com/shop/payments:5.1.0 failed: Deployment shop/payments took longer than 600 s: 1 of 3 updated, 2 of 3 available',
        95,
      ),
    ],
    running: '5.0.4',
    rollouts: { progressing: 0, done: 0, failed: 0, rolledBack: 1 },
    latest: { tag: '5.1.0', digest: digestOf('c'), selectedAt: at(106) },
    history: [
      { ...change({ name: 'payments', from: '5.1.0', to: '5.0.4', minutes: 95 }), trigger: 'Rollback' },
      {
        ...change({ name: 'payments', from: '5.0.4', to: '5.1.0', minutes: 106, result: 'RolledBack' }),
        failure: {
          against: 'image',
          reason: 'CrashLoop',
          message:
            'Deployment shop/payments: pod payments-7c9d5b6f4-x2lqp, container payments: CrashLoopBackOff (3 restarts, last ended with Error (exit code 1))',
        },
      },
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
      condition(
        'Ready',
        'Window',
        '0.9.4 is applied to Deployment shop/stock when the next window opens: 2026-03-01T20:00:00Z',
        40,
        'False',
      ),
      condition('Reconciling', 'Window', '0.9.4 is applied to Deployment shop/stock when the next window opens: 2026-03-01T20:00:00Z', 40),
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
      history: [change({ name: 'payments', from: '5.0.4', to: '5.1.0', minutes: 105, result: 'Failed', namespace: 'shop-eu' })],
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
        condition(
          'Ready',
          'Window',
          '0.9.4 is applied to Deployment shop/stock when the next window opens: 2026-03-01T20:00:00Z',
          1_890,
          'False',
        ),
        condition(
          'Reconciling',
          'Window',
          '0.9.4 is applied to Deployment shop/stock when the next window opens: 2026-03-01T20:00:00Z',
          1_890,
        ),
      ],
      running: '7.0.0',
      latest: { tag: '7.0.1', digest: digestOf('f'), selectedAt: at(1_890) },
      history: [change({ name: 'storefront', from: '6.9.4', to: '7.0.0', minutes: 9_000 })],
    },
    { windows: [{ from: '20:00', to: '22:00', timeZone: 'UTC' }] },
    'shop-us',
  ),
];

/** The Deployment of each policy, with what it runs. */
export const workloads = policies.map(({ namespace, name, spec, status: { running = '', history = [], latest } }) => {
  const { registry, path } = scopeOf(spec)?.repository ?? repositoryOf(name);
  const image = `${registry}/${path}:${running.split(', ')[0]}`;
  const imageSetAt = history[0]?.at ?? latest?.selectedAt ?? at(3_000);
  return workloadOf({ [name]: { image, imageSetAt } }, { namespace, name, uid: `uid-of-${namespace}-${name}` });
});
