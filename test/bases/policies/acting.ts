/** Acts on images that are behind, with ports that record what is asked of them. */
import assert from 'node:assert/strict';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { act, type ActPorts, type ImageBehind } from '../../../src/bases/policies/act.ts';
import type { ChildManifest } from '../../../src/bases/policies/child-policies.ts';
import type { RebuildOrder } from '../../../src/bases/policies/request-rebuilds.ts';
import type { RebaseResult } from '../../../src/bases/policies/roll-out-rebased.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import type { RebuildState } from '../../../src/bases/triggers/order.ts';

const context = { aliases: new Map<string, string>(), customTargets: [] };
export const base = { tag: '21.0.6', digest: `sha256:${'b'.repeat(64)}` };
export const now = Date.parse('2026-11-23T12:00:00Z');
export const secretRef = { name: 'ci', key: 'token' };
export const rebase = { rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } };
export const trigger = (more: object = {}) => ({
  trigger: { images: ['*'], github: { repository: '$source', event: 'base-image', secretRef }, ...more },
});

export function policyWith(spec: object, { status = {}, annotations = {} }: { status?: object; annotations?: object } = {}) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1, annotations };
  const written = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads: [{}], ...spec };
  const policy = readBasePolicy({ metadata, spec: written, status }, context);
  assert.ok(isUsableBase(policy.spec), JSON.stringify(policy.spec));
  return { ...policy, spec: policy.spec };
}

export const imageOf = (name: string, more: Partial<ImageBehind> = {}): ImageBehind => ({
  source: { registry: 'harbor.example.com', path: `shop/${name}` },
  tag: '1.2.3',
  digest: `sha256:${'a'.repeat(64)}`,
  isPinned: false,
  base: `sha256:${'0'.repeat(64)}`,
  builtFrom: `https://github.com/shop/${name}`,
  workloads: [{ workload: { kind: 'Deployment', namespace: 'shop', name }, containers: ['app'], hasInitContainers: false }],
  ...more,
});

interface Options {
  readonly status?: object;
  readonly annotations?: object;
  readonly rebased?: (name: string) => RebaseResult;
  readonly rebuilds?: readonly RebuildState[];
  /** Images on the base, and the pods of their workloads. */
  readonly current?: { readonly images: readonly ImageBehind[]; readonly pods: RunningPods };
}

/** Acts on images, with ports that record what is asked of them. */
export async function run(
  spec: object,
  images: readonly ImageBehind[],
  { status, annotations, rebased, rebuilds = [], current }: Options = {},
) {
  const created: ChildManifest[] = [];
  const requested: RebuildOrder[] = [];
  const dates: string[] = [];
  const ports: ActPorts = {
    rebase({ image, date }) {
      dates.push(date.toISOString());
      return Promise.resolve().then(() => rebased?.(image.source.path) ?? { tag: `${image.tag}-base.20261123`, digest: image.digest });
    },
    children: {
      list: () => Promise.resolve([]),
      create: (manifest) => Promise.resolve(void created.push(manifest)),
      remove: () => Promise.reject(new Error('there is nothing to remove')),
      rollBack: () => Promise.reject(new Error('there is nothing to roll back')),
    },
    readWorkload: () => Promise.reject(new Error('there is no child whose workload is another one')),
    rebuilds: {
      request: (orders) => Promise.resolve(void requested.push(...orders)),
      read: () => Promise.resolve(rebuilds),
    },
    restarts: {
      read: () => (current === undefined ? Promise.reject(new Error('no workload is to be restarted')) : Promise.resolve(current.pods)),
      restart: () => Promise.reject(new Error('no workload is to be restarted')),
      readConsent: () => Promise.resolve(null),
    },
    facts: { read: () => Promise.resolve(undefined) },
    cluster: { crossNamespace: 'consent', namespaceConsent: () => undefined },
  };
  const policy = policyWith(spec, { ...(status && { status }), ...(annotations && { annotations }) });
  const { signal } = new AbortController();
  const acted = await act(
    {
      policy,
      base,
      behind: images,
      current: current?.images ?? [],
      versions: { source: { registry: 'harbor.example.com', path: 'library/base-java' }, versions: [base] },
      findWorkload: () => undefined,
      selects: () => true,
      permits: () => true,
      confirm: () => Promise.resolve(),
      beginWave: () => Promise.resolve(),
      confirmUnchanged: () => Promise.resolve(),
      now,
      signal,
    },
    ports,
  );
  return { ...acted, created, requested, dates, stateOf: (image: ImageBehind) => acted.states.get(image) };
}
