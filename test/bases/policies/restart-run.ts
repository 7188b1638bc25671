/** One step of a roll-out of restarts, over pods that a test names. */
import assert from 'node:assert/strict';
import { knownBase } from '../../../src/bases/recognize/layers.ts';
import type { Acting, ImageBehind } from '../../../src/bases/policies/act.ts';
import type { RestartPorts } from '../../../src/bases/policies/examine-restarts.ts';
import { restartOutdated } from '../../../src/bases/policies/restart-outdated.ts';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { SettingValues } from '../../../src/core/model/policy-defaults.ts';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import { digestFor, image as imageOf } from '../recognize/samples.ts';
import { policyWith } from './acting.ts';

const platform = 'linux/amd64';
const bases = [
  imageOf({ name: '21.0.2', layers: { [platform]: 'os java2' } }),
  imageOf({ name: '21.0.1', layers: { [platform]: 'os java1' } }),
];
const [selected] = bases;
const known = bases.map((facts) => knownBase(facts, { repository: 'harbor.example.com/library/base-java', tags: [] }));
export const base = { tag: '21.0.2', digest: selected?.digest ?? '' };
export const now = Date.parse('2026-11-23T12:00:00Z');
export const rebuilt = digestFor('rebuilt');
export const former = digestFor('former');
const facts = new Map(
  [
    ...bases,
    imageOf({ name: 'rebuilt', layers: { [platform]: 'os java2 web' } }),
    imageOf({ name: 'former', layers: { [platform]: 'os java1 web' } }),
  ].map((one) => [one.digest, one] as const),
);

function actingOf({ waves = {}, windows, ...written }: Pick<Options, 'waves' | 'windows' | 'status' | 'defaults'>): Acting {
  return {
    policy: policyWith({ onNewBase: [{ restart: { images: ['*'] } }], waves, ...(windows && { windows }) }, written),
    base,
    behind: [],
    current: [],
    versions: {
      source: { registry: 'harbor.example.com', path: 'library/base-java' },
      known,
      line: { description: 'any', relationOf: () => 'older' },
    },
    findWorkload: () => undefined,
    selects: ({ labels }) => labels?.['unselected'] === undefined,
    permits: () => true,
    isInUse: () => true,
    confirm: () => Promise.resolve(),
    beginWave: () => Promise.resolve(),
    confirmUnchanged: () => Promise.resolve(),
    now,
    signal: new AbortController().signal,
  };
}

export const workloadOf = (name: string, namespace = 'platform') => ({ kind: 'Deployment', namespace, name });
export const web = (names: readonly string[], more: Partial<ImageBehind> = {}, namespace?: string): ImageBehind => ({
  source: { registry: 'harbor.example.com', path: 'shop/web' },
  tag: 'main',
  digest: rebuilt,
  isPinned: false,
  base: base.digest,
  workloads: names.map((name) => ({ workload: workloadOf(name, namespace), containers: ['app'], hasInitContainers: false })),
  ...more,
});

export const complete = {
  observedGeneration: 1,
  wanted: 1,
  toUpdate: 1,
  updated: 1,
  available: 1,
  outdated: 0,
  wasComplete: true,
  isIncomplete: false,
};
/** Its new pods are not available. */
export const incomplete = { ...complete, available: 0, wasComplete: false, isIncomplete: true };
/** As of a DaemonSet, which does not say whether it was complete. */
export const { isIncomplete: _, ...unavailable } = incomplete;

export const pods = (digest: string, more: Partial<RunningPods> = {}): RunningPods => ({
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  rollout: complete,
  restartedFor: [],
  pullsAlways: ['app'],
  digests: new Map([['app', new Set([digest])]]),
  ...more,
});

interface Options {
  readonly waves?: object;
  readonly windows?: object[];
  readonly status?: object;
  /** The defaults of the cluster. */
  readonly defaults?: SettingValues;
  readonly isUnchanged?: boolean;
  readonly refused?: readonly string[];
  /** Why the pods of some workloads cannot be read. */
  readonly unread?: Readonly<Record<string, Error>>;
  /** Why the images that pods run cannot be read. */
  readonly unreadImage?: Error;
  readonly actions?: PolicyActions;
  /** That of the Namespace, at the moment of the restart. */
  readonly namespaceConsent?: string | null;
  /** The same as the cache has it. */
  readonly cachedConsent?: string | null;
  readonly confirm?: Acting['confirm'];
}

export async function run(
  images: ImageBehind | readonly ImageBehind[],
  running: Readonly<Record<string, RunningPods>>,
  {
    isUnchanged = true,
    refused = [],
    unread = {},
    unreadImage,
    actions,
    namespaceConsent = null,
    cachedConsent = null,
    confirm,
    ...options
  }: Options = {},
) {
  const all = [images].flat();
  const restarted: string[] = [];
  const digests: string[] = [];
  const ports: RestartPorts = {
    facts: { read: (_, digest) => (unreadImage && digest === former ? Promise.reject(unreadImage) : Promise.resolve(facts.get(digest))) },
    cluster: { crossNamespace: 'consent', namespaceConsent: () => cachedConsent },
    restarts: {
      readConsent: () => Promise.resolve(namespaceConsent),
      read: ({ name }) => (unread[name] === undefined ? Promise.resolve(running[name]) : Promise.reject(unread[name])),
      restart({ name }, { restartedFor, uid }) {
        assert.equal(uid, 'u');
        if (refused.includes(name)) return Promise.reject(new PermanentError('PatchRejected', 'denied by a webhook'));
        digests.push(...restartedFor);
        if (isUnchanged) restarted.push(name);
        return Promise.resolve(isUnchanged);
      },
    },
  };
  const acting = actingOf(options);
  const policy = { ...acting.policy, ...(actions && { actions }) };
  const acted = await restartOutdated({ ...acting, policy, ...(confirm && { confirm }) }, all, ports);
  return { ...acted, restarted, digests, state: all[0] && acted.states.get(all[0]) };
}
