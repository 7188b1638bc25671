/** Acts on images that are behind, with ports that record what is asked of them. */
import assert from 'node:assert/strict';
import { effectiveBase } from '../../../src/bases/effective-base.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { act, type ActPorts, type ImageBehind } from '../../../src/bases/policies/act.ts';
import type { ChildManifest } from '../../../src/bases/policies/child-policies.ts';
import type { RebuildOrder } from '../../../src/bases/policies/request-rebuilds.ts';
import type { Discarded } from '../../../src/core/model/discarded-image.ts';
import type { RebaseResult } from '../../../src/bases/policies/rebase-images.ts';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import type { SettingValues } from '../../../src/core/model/policy-defaults.ts';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import type { FactsReader } from '../../../src/bases/recognize/facts-reader.ts';
import type { KnownBase } from '../../../src/bases/recognize/layers.ts';
import type { Workload, WorkloadRef } from '../../../src/core/model/workload.ts';
import type { RebuildState } from '../../../src/bases/triggers/order.ts';

const context = { aliases: new Map<string, string>(), customTargets: [], verifiesApprovers: true };
export const base = { tag: '21.0.6', digest: `sha256:${'b'.repeat(64)}` };
export const now = Date.parse('2026-11-23T12:00:00Z');
export const secretRef = { name: 'ci', key: 'token' };
export const rebase = { rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } };
export const trigger = (more: object = {}) => ({
  trigger: { images: ['*'], github: { repository: '$source', event: 'base-image', secretRef }, ...more },
});

interface Written {
  readonly status?: object;
  readonly annotations?: object;
  /** The defaults of the cluster. */
  readonly defaults?: SettingValues;
}

export function policyWith(spec: object, { status = {}, annotations = {}, defaults = {} }: Written = {}) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1, annotations };
  const written = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads: [{}], ...spec };
  const rules = { cluster: defaults, namespaces: [] };
  const policy = effectiveBase(readBasePolicy({ metadata, spec: written, status }, context), { rules, labelsOf: () => undefined });
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

interface Options extends Written {
  readonly rebased?: (name: string) => RebaseResult | undefined;
  /** What the registry does with the tag of what was rebased on a rejected base, by the path of the repository. */
  readonly discarded?: (path: string) => Discarded | undefined;
  /** The images that workloads name, without their registry. */
  readonly inUse?: readonly string[];
  readonly rebuilds?: readonly RebuildState[];
  /** Images that are built on the base already. */
  readonly rebuilt?: readonly ImageBehind[];
  readonly findWorkload?: (ref: WorkloadRef) => Workload | undefined;
  /** What the registry knows about images. */
  readonly facts?: FactsReader;
  readonly known?: readonly KnownBase[];
  /** Images on the base, and the pods of their workloads, or of each by its name, which may then be restarted. */
  readonly current?: {
    /** The workloads whose restart the API server refuses. */
    readonly refused?: readonly string[];
    readonly images: readonly ImageBehind[];
    readonly pods: RunningPods | Readonly<Record<string, RunningPods>>;
  };
}

function isPods(pods: RunningPods | Readonly<Record<string, RunningPods>>): pods is RunningPods {
  return 'uid' in pods;
}

/** Acts on images, with ports that record what is asked of them. */
export async function run(
  spec: object,
  images: readonly ImageBehind[],
  { rebased, discarded, inUse = [], rebuilds = [], rebuilt = [], findWorkload, facts, known = [], current, ...written }: Options = {},
) {
  const created: ChildManifest[] = [];
  const requested: RebuildOrder[] = [];
  const dates: string[] = [];
  const steps: string[] = [];
  const ports: ActPorts = {
    isRebaseKnown: () => false,
    discard({ image }, { message, isInUse }) {
      const { source, tag } = image;
      const rebased = `${tag}-base.20261123`;
      steps.push(`discard ${source.path}:${rebased}: ${message}`);
      return Promise.resolve(
        isInUse({ tag: rebased, digest: image.digest }) ? { tag: rebased, result: 'InUse' } : discarded?.(source.path),
      );
    },
    rebase({ image, date, isOnlyPlanned }) {
      dates.push(date.toISOString());
      steps.push(`${isOnlyPlanned ? 'plan' : 'rebase'} ${image.source.path}`);
      return Promise.resolve().then(
        () =>
          rebased?.(image.source.path) ??
          (isOnlyPlanned ? { isPlanned: true } : { tag: `${image.tag}-base.20261123`, digest: image.digest }),
      );
    },
    children: {
      list: () => Promise.resolve([]),
      create: (manifest) => Promise.resolve(void created.push(manifest)).then(() => void steps.push(`create for ${manifest.spec.image}`)),
      remove: () => Promise.reject(new Error('there is nothing to remove')),
      rollBack: () => Promise.reject(new Error('there is nothing to roll back')),
    },
    readWorkload: () => Promise.reject(new Error('there is no child whose workload is another one')),
    rebuilds: {
      request: (orders) => Promise.resolve(void requested.push(...orders)),
      read: () => Promise.resolve(rebuilds),
    },
    restarts: {
      read({ name }) {
        if (current === undefined) return Promise.reject(new Error('no workload is to be restarted'));
        return Promise.resolve(isPods(current.pods) ? current.pods : current.pods[name]);
      },
      restart({ name }) {
        if (current === undefined || isPods(current.pods)) return Promise.reject(new Error('no workload is to be restarted'));
        if (current.refused?.includes(name) === true) return Promise.reject(new PermanentError('PatchRejected', 'denied by a webhook'));
        steps.push(`restart ${name}`);
        return Promise.resolve(true);
      },
      readConsent: () => Promise.resolve(null),
    },
    facts: facts ?? { read: () => Promise.resolve(undefined) },
    cluster: { crossNamespace: 'consent', namespaceConsent: () => undefined },
  };
  const policy = policyWith(spec, written);
  const { signal } = new AbortController();
  const acted = await act(
    {
      policy,
      base,
      behind: images,
      current: current?.images ?? rebuilt,
      versions: {
        source: { registry: 'harbor.example.com', path: 'library/base-java' },
        known,
        line: { description: 'any', relationOf: () => 'older' },
      },
      findWorkload: findWorkload ?? (() => undefined),
      selects: () => true,
      permits: () => true,
      isInUse: ({ repository: { path }, tag }) => inUse.includes(`${path}:${tag}`),
      confirm: () => Promise.resolve(),
      beginWave: () => Promise.resolve(),
      confirmUnchanged: () => Promise.resolve(),
      now,
      signal,
    },
    ports,
  );
  return { ...acted, created, requested, dates, steps, stateOf: (image: ImageBehind) => acted.states.get(image) };
}
