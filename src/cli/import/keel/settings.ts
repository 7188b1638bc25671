import type { SourceWorkload } from '../workload.ts';

/** The settings of Keel in the labels and annotations of a workload, with Keel's defaults. */
export interface KeelSettings {
  /** The policy of Keel as written: `minor`, `force`, `glob:build-*` … */
  readonly policy: string;
  readonly matchTag: boolean;
  readonly matchPreRelease: boolean;
  /** Whether Keel polls the registry (`keel.sh/trigger: poll`) instead of relying on webhooks. */
  readonly polls: boolean;
  readonly pollSchedule?: string;
  readonly approvals?: string;
  readonly approvalDeadline?: string;
  readonly imagePullSecret?: string;
  readonly monitorContainers?: string;
  readonly initContainers: boolean;
  /** Keys that have no equivalent in policies. */
  readonly others: readonly string[];
}

const prefix = 'keel.sh/';
const legacyPolicy = 'keel.observer/policy';
const known = new Set(
  ['policy', 'trigger', 'pollSchedule', 'matchTag', 'match-tag', 'matchPreRelease', 'approvals', 'approvalDeadline']
    .concat(['imagePullSecret', 'monitorContainers', 'initContainers'])
    // Keys that Keel itself writes.
    .concat(['digest', 'update-time'])
    .map(keyOf),
);

/**
 * Reads what Keel reads (https://keel.sh/docs/#policies): annotations take precedence over labels, and settings of the policy are read from where the policy
 * is. Keys are case-insensitive. Undefined if there is no policy, or the policy is `never`.
 */
export function readKeelSettings({ labels, annotations }: Pick<SourceWorkload, 'labels' | 'annotations'>): KeelSettings | undefined {
  const inLabels = lowerCased(labels);
  const inAnnotations = lowerCased(annotations);
  const source = [inAnnotations, inLabels].find((map) => policyIn(map) !== undefined);
  const policy = source && policyIn(source);
  if (source === undefined || policy === undefined || policy === '' || policy === 'never') return undefined;
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
    matchTag: (source.get(keyOf('matchTag')) ?? source.get(keyOf('match-tag'))) === 'true',
    matchPreRelease: (source.get(keyOf('matchPreRelease')) ?? 'true') === 'true',
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
