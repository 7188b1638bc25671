/** Bases in many states, the workloads that run on them, and the view of the API of them. */
import { actionAnnotations } from '../../../src/core/model/policy-actions.ts';
import type { BaseView } from '../../../src/bases/api/view.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import type { KeptDependents } from '../../../src/bases/record/kept-dependents.ts';
import type { SeenVersion } from '../../../src/bases/record/seen-version.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import type { BaseStatus, Dependent } from '../../../src/core/model/base-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { digestOf, noAliases, workloadOf } from '../../core/model/samples.ts';

export const java = 'harbor.example.com/library/base-java';
export const framework = 'harbor.example.com/library/framework';
const shop = (name: string) => `harbor.example.com/shop/${name}`;
const at = (hour: string) => `2026-03-01T${hour}:00Z`;

/** The selected version of Java, and the one before. */
export const newJava = { tag: '21.0.7', digest: digestOf('b'), selectedAt: at('09:00') };
const onOld = { base: `21.0.6@${digestOf('a')}`, recognizedBy: 'Layers' as const };
const onNew = { base: `21.0.7@${newJava.digest}`, recognizedBy: 'Layers' as const };
const pinned = `${shop('pinned')}@${digestOf('e')}`;

function dependent(image: string, state: Dependent['state'], more: Partial<Dependent> = {}): Dependent {
  const isBehind = state !== 'Current' && state !== 'Updated' && state !== 'Unknown' && state !== 'OtherLine';
  return { image, state, workloads: 1, ...(isBehind && { behindSince: at('09:00') }), ...more };
}

/** One of each state that a user has to understand. */
export const javaDependents: readonly Dependent[] = [
  dependent(`${shop('basket')}:1.4.2`, 'Updating', { ...onOld, action: 'rebase', rebased: '1.4.2-base.20260301' }),
  dependent(`${shop('checkout')}:2.4.0`, 'Refused', {
    ...onOld,
    action: 'rebase',
    reason: 'EntrypointChanged',
    message: 'the entrypoint of the base changes from ["java"] to ["/entrypoint.sh","java"]',
  }),
  dependent(`${shop('init-db')}:1.0.0`, 'Behind', { ...onOld, action: 'report' }),
  dependent(pinned, 'Behind', { ...onOld, action: 'restart' }),
  dependent(`${shop('web')}:7.0.1`, 'Behind', {
    ...onOld,
    reason: 'BaseBetween',
    message: `it is built on ${framework}:3.1.0: BaseImagePolicy platform/framework brings it forward when ${framework} is; with basesBetween: Skip it is brought forward directly`,
  }),
  dependent(`${shop('search')}:3.2.0`, 'Rebased', { ...onOld, action: 'rebase', rebased: '3.2.0-base.20260301' }),
  dependent(`${shop('reports')}:0.9.3`, 'Unknown', {
    message: `its lowest layer is that of 21.0.6 (${digestOf('b')}), and no known version has all of those below its own: it may be built on a version that is not known`,
  }),
  dependent(`${shop('legacy')}:4.0.0`, 'OtherLine', { base: `17.0.9@${digestOf('c')}`, recognizedBy: 'Annotation' }),
  dependent(`${shop('payments')}:5.1.0-base.20260301`, 'Updated', { ...onNew, action: 'rebase' }),
  dependent(`${shop('cart')}:1.9.0`, 'Current', onNew),
];

const condition = (type: string, reason: string, status: 'True' | 'False', message: string) =>
  ({ type, status, reason, message, lastTransitionTime: at('09:01') }) as const;

const javaStatus: BaseStatus = {
  observedGeneration: 1,
  conditions: [
    condition('Ready', 'Progressing', 'False', 'rolling out 21.0.7: 1 of 3 workloads; 6 of 12 images are behind 21.0.7'),
    condition('Reconciling', 'Progressing', 'True', 'rolling out 21.0.7: 1 of 3 workloads; 6 of 12 images are behind 21.0.7'),
  ],
  latest: newJava,
  lastCheckTime: at('09:00'),
  images: { total: 12, current: 2, behind: 6, otherLine: 1, unknown: 1, unrelated: 2 },
  versions: { known: 3, unread: 0 },
  behindSince: at('09:00'),
  // The status lists only the first; the test of the whole list keeps the others besides.
  dependents: javaDependents.slice(0, 6),
  waves: { base: newJava.digest, pending: 1, progressing: 1, done: 1, failed: 0, lastDoneAt: at('09:10') },
  history: [
    { ...newJava, requested: 0, updated: 1, failed: 0, result: 'Selected' },
    { tag: '21.0.6', digest: digestOf('a'), selectedAt: '2026-01-20T09:00:00Z', requested: 0, updated: 11, failed: 0, result: 'Selected' },
  ],
};

interface Written {
  readonly namespace?: string;
  readonly name: string;
  readonly image: string;
  readonly spec?: object;
  readonly status?: BaseStatus;
  readonly annotations?: object;
}

export function basePolicyOf({ namespace = 'platform', name, image, spec, status = {}, annotations = {} }: Written): BaseImagePolicy {
  const metadata = { name, namespace, uid: `uid-${name}`, resourceVersion: '1', generation: 1, annotations };
  const everywhere = { namespaceSelector: { matchLabels: { tier: 'apps' } }, kinds: ['Deployment'] };
  const written = { image, select: { semver: { range: '21.x' } }, workloads: [everywhere], ...spec };
  return readBasePolicy({ metadata, spec: written, status }, { aliases: noAliases, customTargets: [], verifiesApprovers: true });
}

const rebase = { rebase: { images: ['harbor.example.com/shop/*'], pushSecret: { name: 'rebaser' } } };

export const sampleBases: readonly BaseImagePolicy[] = [
  basePolicyOf({
    name: 'framework',
    image: framework,
    spec: { select: { semver: {} }, mode: 'Approval', onNewBase: [rebase] },
    status: {
      conditions: [
        condition('Ready', 'ImagesBehind', 'True', '1 of 1 images are behind 3.2.0'),
        condition('ApprovalRequired', 'ApprovalRequired', 'True', `3.2.0@${digestOf('d')}`),
      ],
      latest: { tag: '3.2.0', digest: digestOf('d'), selectedAt: at('10:00') },
      pendingApproval: { tag: '3.2.0', digest: digestOf('d') },
      images: { total: 1, current: 0, behind: 1, unknown: 0, unrelated: 0 },
      dependents: [
        dependent(`${shop('web')}:7.0.1`, 'Behind', {
          base: `3.1.0@${digestOf('f')}`,
          recognizedBy: 'Layers',
          action: 'rebase',
          reason: 'ApprovalRequired',
          message: `rebase waits for the approval of 3.2.0: annotate BaseImagePolicy platform/framework with ${actionAnnotations.approve}: 3.2.0@${digestOf('d')}`,
          behindSince: at('10:00'),
        }),
      ],
    },
  }),
  basePolicyOf({ name: 'java', image: java, spec: { onNewBase: [rebase] }, status: javaStatus }),
  basePolicyOf({ namespace: 'other', name: 'node', image: 'harbor.example.com/library/node' }),
];

function workload(name: string, image: string, more: Partial<Workload> = {}): Workload {
  return { ...workloadOf({ app: image }), namespace: 'shop', name, ...more };
}

/** The workloads that run the images of `javaDependents`, and one that mounts an image. */
export const sampleWorkloads: readonly Workload[] = [
  ...javaDependents
    .filter(({ image }) => !image.includes('init-db'))
    .map(({ image }) => workload(/shop\/([a-z]+)/.exec(image)?.[1] ?? '', image)),
  workload('database', 'harbor.example.com/library/postgres:16', {
    namespace: 'data',
    initContainers: [{ name: 'schema', image: `${shop('init-db')}:1.0.0` }],
    volumes: [{ name: 'volumes/model', image: `${shop('model')}:5`, index: 0 }],
  }),
];

const seen = (digest: string, tags: string[], seenAt: string, layers: number, isSelected = true): SeenVersion => ({
  digest,
  tags,
  seenAt,
  ...(isSelected && { selected: true }),
  platforms: [{ platform: 'linux/amd64', digest, layers: { count: layers, chain: digest, first: digest, last: digest } }],
});

/** The versions that each policy has seen. */
const sampleVersions: Readonly<Record<string, readonly SeenVersion[]>> = {
  'uid-java': [
    seen(digestOf('a'), ['21.0.6'], '2026-01-20T09:00:00Z', 5),
    seen(newJava.digest, ['21.0.7', '21'], newJava.selectedAt, 5),
    seen(digestOf('c'), ['17.0.9'], '2025-11-02T09:00:00Z', 5, false),
  ],
  'uid-framework': [seen(digestOf('f'), ['3.1.0'], '2026-02-01T09:00:00Z', 8), seen(digestOf('d'), ['3.2.0'], at('10:00'), 8)],
};

/** What the API shows of them. */
const repository = 'https://github.com/platform/framework';
const frameworkOrigins = {
  now: { repository, revision: '9e107d9'.padEnd(40, '0'), version: '3.2.0' },
  before: { repository, revision: '5d41402'.padEnd(40, '0') },
};

export function sampleView(more: Partial<BaseView> = {}): BaseView {
  const keptOfJava: KeptDependents = { base: newJava.digest, dependents: javaDependents };
  return {
    areKnown: () => true,
    all: () => sampleBases,
    find: (namespace, name) => sampleBases.find((one) => one.namespace === namespace && one.name === name),
    originsOf: ({ name }) => (name === 'framework' ? frameworkOrigins : {}),
    feed: { subscribe: () => () => undefined },
    readKept: ({ uid }) => Promise.resolve(uid === 'uid-java' ? keptOfJava : undefined),
    readVersions: ({ uid }) => Promise.resolve(sampleVersions[uid] ?? []),
    images: {
      crossNamespace: 'consent',
      namespaceConsent: () => '*',
      findWorkload: () => undefined,
      listWorkloads: ({ kind }, namespace) => sampleWorkloads.filter((one) => one.kind === kind && one.namespace === namespace),
      namespacesWith: () => ['shop', 'data'],
      aliases: noAliases,
    },
    now: () => Date.parse('2026-03-01T12:00:00Z'),
    ...more,
  };
}
