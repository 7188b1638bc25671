import type { KeelWorkload } from './workload.ts';

/** What the labels and annotations of a workload tell Keel, with Keel's own defaults. */
export interface KeelSettings {
  /** As written: `minor`, `force`, `glob:build-*` … */
  readonly policy: string;
  readonly matchTag: boolean;
  readonly matchPreRelease: boolean;
  /** Whether Keel asks the registry (`keel.sh/trigger: poll`) and is not only told. */
  readonly polls: boolean;
  readonly pollSchedule?: string;
  readonly approvals?: string;
  readonly approvalDeadline?: string;
  readonly imagePullSecret?: string;
  readonly monitorContainers?: string;
  readonly initContainers: boolean;
  /** Keys that say something for which a policy has no word. */
  readonly others: readonly string[];
}

const prefix = 'keel.sh/';
const legacyPolicy = 'keel.observer/policy';
const known = new Set(
  ['policy', 'trigger', 'pollSchedule', 'matchTag', 'match-tag', 'matchPreRelease', 'approvals', 'approvalDeadline']
    .concat(['imagePullSecret', 'monitorContainers', 'initContainers'])
    // What Keel writes itself.
    .concat(['digest', 'update-time'])
    .map(keyOf),
);

/**
 * Reads what Keel reads (https://keel.sh/docs/#policies): annotations come before labels, and what belongs to the policy is looked for where the
 * policy is. Keys in any case. Undefined where Keel is told nothing, or to do nothing.
 */
export function readKeelSettings({ labels, annotations }: Pick<KeelWorkload, 'labels' | 'annotations'>): KeelSettings | undefined {
  const inLabels = lowerCased(labels);
  const inAnnotations = lowerCased(annotations);
  const place = [inAnnotations, inLabels].find((map) => policyIn(map) !== undefined);
  const policy = place && policyIn(place);
  if (place === undefined || policy === undefined || policy === '' || policy === 'never') return undefined;
  const anywhere = (name: string) => inLabels.get(keyOf(name)) ?? inAnnotations.get(keyOf(name));
  const texts = {
    pollSchedule: inAnnotations.get(keyOf('pollSchedule')),
    approvals: anywhere('approvals'),
    approvalDeadline: anywhere('approvalDeadline'),
    imagePullSecret: anywhere('imagePullSecret'),
    monitorContainers: anywhere('monitorContainers'),
  };
  return {
    policy,
    matchTag: (place.get(keyOf('matchTag')) ?? place.get(keyOf('match-tag'))) === 'true',
    matchPreRelease: (place.get(keyOf('matchPreRelease')) ?? 'true') === 'true',
    polls: anywhere('trigger') === 'poll',
    initContainers: anywhere('initContainers') === 'true',
    ...present(texts),
    others: [...new Set([...Object.keys(annotations), ...Object.keys(labels)])].filter(isUnknown).sort(),
  };
}

function keyOf(name: string): string {
  return `${prefix}${name}`.toLowerCase();
}

function lowerCased(texts: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(texts).map(([key, value]) => [key.toLowerCase(), value.trim()]));
}

function policyIn(map: ReadonlyMap<string, string>): string | undefined {
  return map.get(keyOf('policy')) ?? map.get(legacyPolicy);
}

function isUnknown(key: string): boolean {
  const lower = key.toLowerCase();
  return lower.startsWith(prefix) && !known.has(lower);
}

function present<K extends string>(texts: Record<K, string | undefined>): Partial<Record<K, string>> {
  const entries = Object.entries<string | undefined>(texts).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}
