/** Policies in every state, the ports of an API that has them, and a caller. */
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import type { PolicyPorts } from '../../../src/service/api/ports.ts';
import { createPolicyFeed } from '../../../src/service/api/stream.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { viewOf } from '../../core/rollout/rollout-samples.ts';

const condition = (type: string, reason: string, status: 'True' | 'False' = 'True') =>
  ({ type, status, reason, message: `${reason}!`, lastTransitionTime: '2026-03-01T11:00:00Z' }) as const;
const ready = (value: 'True' | 'False', reason: string) => condition('Ready', reason, value);
/** What waits for approval in shop/approval. */
export const pending = { tag: '1.3.0', digest: digestOf('b') };

/** One of each state, by name. */
const samples: Record<string, Partial<ImagePolicy>> = {
  approval: {
    status: { conditions: [ready('True', 'UpToDate'), condition('ApprovalRequired', 'ApprovalRequired')], pendingApproval: pending },
  },
  failed: { status: { conditions: [ready('False', 'RejectedDigest'), condition('Stalled', 'RejectedDigest')] } },
  held: { status: { conditions: [ready('True', 'UpToDate'), condition('Held', 'Held')] } },
  progressing: { status: { conditions: [ready('False', 'Progressing'), condition('Reconciling', 'Progressing')] } },
  ready: {
    status: { conditions: [ready('True', 'UpToDate')], running: '1.2.3', latest: { tag: '1.2.3', selectedAt: '2026-03-01T10:00:00Z' } },
  },
  stalled: { status: { conditions: [ready('False', 'RepositoryNotFound'), condition('Stalled', 'RepositoryNotFound')] } },
  suspended: { spec: specOf({ suspended: true }), status: { conditions: [ready('True', 'Suspended')] } },
  unknown: {},
  unreadable: { spec: { problem: { reason: 'InvalidPolicy', message: 'no targets' } }, status: {} },
  waiting: {
    status: {
      conditions: [ready('False', 'Window'), condition('Reconciling', 'Window')],
      waiting: { ...pending, until: '2026-03-01T20:00:00Z', reason: 'Window' },
    },
  },
};
export const samplePolicies: readonly ImagePolicy[] = [
  ...Object.entries(samples).map(([name, policy]) => policyOf({ name, uid: `uid-${name}`, ...policy })),
  policyOf({ namespace: 'ops', name: 'other', uid: 'uid-other' }),
];

/** A change that a caller made. */
export interface Patched {
  readonly policy: string;
  readonly caller: string;
  readonly body: object;
  /** The plural name of its kind, if it is not an ImagePolicy. */
  readonly of?: string;
}

/** The ports of an API with the samples; changes are added to `patched`. */
export function samplePorts(patched: Patched[], more: Partial<PolicyPorts> = {}): PolicyPorts {
  return {
    areKnown: () => true,
    all: () => samplePolicies,
    find: (namespace, name) => samplePolicies.find((one) => one.namespace === namespace && one.name === name),
    followersOf: () => [],
    consider: (policy) => ({ policy }),
    originsOf: () => ({}),
    changeOriginsOf: () => [],
    cluster: {
      ...viewOf(workloadOf({ web: 'registry.example.com/shop/web:1.2.3' })),
      targetState: () => ({ since: 0 }),
      repeatsPerHour: 5,
      now: () => Date.parse('2026-03-01T12:00:00Z'),
    },
    feed: createPolicyFeed(),
    read: ({ namespace, name }) => Promise.resolve({ metadata: { namespace, name }, spec: {} }),
    noActions: undefined,
    hasAdmissionPolicy: false,
    readPods: () => Promise.resolve([]),
    patch: (caller, { namespace, name, of }, body) => {
      patched.push({ policy: `${namespace}/${name}`, caller: caller.kind, body, ...(of && { of: of.plural }) });
      return Promise.resolve();
    },
    ...more,
  };
}

/** Ann, who has these rights: `get shop`, `list *`, `get baseimagepolicies shop`. */
export const ann = (...rights: string[]): OperationsAuth => ({
  kind: 'kubernetes',
  reviewToken: (token) => Promise.resolve(token === 'anns-token' ? { user: 'ann', groups: [] } : undefined),
  reviewAccess: (_, { verb, resource, namespace = '*' }) =>
    Promise.resolve(rights.includes([verb, ...(resource === undefined ? [] : [resource]), namespace].join(' '))),
});
