/** A day of a small installation: what the pictures of the documentation show. */
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { sampleView } from '../bases/api/sample-bases.ts';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import type { Condition, HistoryEntry } from '../../src/core/model/policy-status.ts';
import type { EventRecord } from '../../src/service/queue/event-record.ts';
import type { PolicyResult } from '../../src/service/queue/event-log.ts';
import { eventTime, recordOf } from '../service/api/fake-events.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';

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

function policy(name: string, status: ImagePolicy['status'], spec: Parameters<typeof specOf>[0] = {}): ImagePolicy {
  const repository = repositoryOf(name);
  return policyOf({ name, uid: `uid-${name}`, spec: specOf({ repository, ...spec }), status });
}

const checkout = [
  change({ name: 'checkout', from: '2.3.1', to: '2.4.0', minutes: 12 }),
  change({ name: 'checkout', from: '2.3.0', to: '2.3.1', minutes: 190 }),
  change({ name: 'checkout', from: '2.2.7', to: '2.3.0', minutes: 700 }),
];

/** Policies of one namespace, in most states. */
const policies: readonly ImagePolicy[] = [
  policy('cart', {
    conditions: [ready('1.8.2', 300), condition('ApprovalRequired', 'ApprovalRequired', '1.9.0 waits for approval', 25)],
    running: '1.8.2',
    latest: { tag: '1.9.0', digest: digestOf('b'), selectedAt: at(25) },
    pendingApproval: { tag: '1.9.0', digest: digestOf('b') },
    history: [change({ name: 'cart', from: '1.8.1', to: '1.8.2', minutes: 300 })],
  }),
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
    latest: { tag: '5.1.0', digest: digestOf('c'), selectedAt: at(106) },
    history: [
      change({ name: 'payments', from: '5.1.0', to: '5.0.4', minutes: 95, result: 'RolledBack' }),
      change({ name: 'payments', from: '5.0.4', to: '5.1.0', minutes: 106, result: 'Failed' }),
    ],
  }),
  policy('search', {
    conditions: [
      condition('Ready', 'Progressing', 'rolls out 3.2.0: 2 of 6 pods', 1, 'False'),
      condition('Reconciling', 'Progressing', 'rolls out 3.2.0: 2 of 6 pods', 1),
    ],
    running: '3.1.4, 3.2.0',
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
  policy('storefront', {
    conditions: [ready('7.0.1', 1_900)],
    running: '7.0.1',
    latest: { tag: '7.0.1', digest: digestOf('f'), selectedAt: at(1_900) },
  }),
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
  pushed('search', '3.2.0', 1, { kind: 'updated', reason: 'Progressing', message: 'rolls out' }),
  pushed('checkout', '2.4.0', 12.5, {
    kind: 'updated',
    reason: 'UpToDate',
    message: 'rolled out',
    changes: [{ workload, index: 0, container: 'checkout', from: newest?.from ?? '', to: newest?.to ?? '' }],
  }),
  pushed('cart', '1.9.0', 25, { kind: 'waiting', reason: 'ApprovalRequired', message: '1.9.0 waits for approval' }),
  pushed('stock', '0.9.4', 40, { kind: 'waiting', reason: 'Window', message: 'waits for the window that opens at 20:00' }),
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
    policies: { all: () => policies, find, read },
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
    added: { features: ['bases'], routes: createBaseRoutes(sampleView()) },
    more: { settings: { webhookUrl: 'https://hooks.example.com' } },
  };
}
