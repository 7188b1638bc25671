/** Policies and workloads for tests: name only what matters. */
import type { ImagePolicy, PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import type { Repository } from '../../../src/core/model/image-reference.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { Workload, WorkloadContainer, WorkloadIdentity, WorkloadRef } from '../../../src/core/model/workload.ts';

export const web: Repository = { registry: 'registry.example.com', path: 'shop/web' };
export const webDeployment: WorkloadRef = { kind: 'Deployment', namespace: 'shop', name: 'web' };
/** The same, and no other of the name. */
export const thisDeployment: WorkloadIdentity = { ...webDeployment, uid: 'uid-of-deployment' };
export const noAliases: ReadonlyMap<string, string> = new Map();
/** Registries have one name each, and no other object is known. */
export const noSources = { aliases: noAliases, findWorkload: () => undefined };
/** All kinds are known, and no selector finds anything. */
export const allKnown = { kindProblem: () => undefined, unseenProblem: () => undefined, listWorkloads: () => [] };

/** A digest that can be told from others: `digestOf('a')`. */
export function digestOf(letter: string): string {
  return `sha256:${letter.repeat(64)}`;
}

/** Any stable version of shop/web, for Deployment shop/web. */
export function specOf(spec: Partial<PolicySpec> = {}): PolicySpec {
  return {
    repository: web,
    strategy: strategies.semver({ range: '>=0.0.1' }),
    pin: 'Tag',
    allowDowngrade: false,
    mode: 'Automatic',
    windows: [],
    targets: [webDeployment],
    pollIntervalMs: 3_600_000,
    suspended: false,
    origins: { poll: 'policy', minAge: 'policy', windows: 'policy', rollout: 'policy' },
    ...spec,
  };
}

/** The alphabetically last tag among those that match, as v1alpha1's strategy Regex. */
export function lastMatching(allow: string) {
  return filterTags(strategies.alphabetical(), { allow });
}

/** The history of a policy that changed container "web" of Deployment shop/web once. */
export function appliedOnce(tag: string): HistoryEntry[] {
  const to = `registry.example.com/shop/web:${tag}`;
  return [{ ...webDeployment, container: 'web', to, tag, trigger: 'Webhook', at: '2026-01-01T00:00:00Z', result: 'Applied' }];
}

/** Follows the tag `latest` by its digest. */
export function latestSpec(spec: Partial<PolicySpec> = {}): PolicySpec {
  return specOf({ strategy: strategies.digest({ tag: 'latest' }), pin: 'Digest', ...spec });
}

/** The policy shop/web, in its first generation and never looked at. */
export function policyOf(policy: Partial<ImagePolicy> = {}): ImagePolicy {
  const { namespace = 'shop', name = 'web' } = policy;
  return {
    namespace,
    name,
    uid: `uid-of-${namespace}-${name}`,
    generation: 1,
    resourceVersion: '1',
    apiVersion: 'operator.technomad.dev/v1',
    spec: specOf(),
    status: {},
    ...policy,
  };
}

/** The status of a policy that was found stalled. */
export function stalledStatus(reason: string, status: PolicyStatus = {}): PolicyStatus {
  const condition = { status: 'True', reason, message: 'see the reason', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
  return { observedGeneration: 1, conditions: [{ type: 'Stalled', ...condition }], ...status };
}

/** Deployment shop/web whose containers run these images. */
export function workloadOf(images: Record<string, string | Omit<WorkloadContainer, 'name'>>, workload: Partial<Workload> = {}): Workload {
  return {
    ...webDeployment,
    apiVersion: 'apps/v1',
    uid: 'uid-of-deployment',
    generation: 1,
    resourceVersion: '1',
    containersPath: '/spec/template/spec/containers',
    containers: Object.entries(images).map(([name, image]) => ({ name, ...(typeof image === 'string' ? { image } : image) })),
    hasAnnotations: false,
    ...workload,
  };
}
