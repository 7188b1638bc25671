/** Checks the kinds of the targets of a policy, and that its targets differ. */
import { isConfigMap } from '../../../core/model/config-map-target.ts';
import { isObject } from '../../../core/model/untyped.ts';
import { fieldOf, has, type Finding, type CheckContext } from '../rules.ts';

/** The kinds that need no API version, and their groups. */
const knownKinds: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  CronJob: 'batch',
  ReplicaSet: 'apps',
};

const servedVersion = 'v1';

/**
 * Checks that a kind is one of the known ones, or has an API version. This is not a rule of the schema, because targets that were written in v1alpha1 may have
 * any kind, and their problem is reported in the status.
 */
export function checkTargetKind(target: unknown): Finding[] {
  const kind = fieldOf(target, 'kind');
  // A text that cannot be a kind is reported by the check of the field.
  if (typeof kind !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(kind)) return [];
  const group = Object.hasOwn(knownKinds, kind) ? knownKinds[kind] : undefined;
  if (!has(target, 'apiVersion')) {
    if (group !== undefined) return [];
    const kinds = Object.keys(knownKinds).join(', ');
    return [finding('kind', `"${kind}" is none of ${kinds}: write its apiVersion as well, as for every custom resource`)];
  }
  const apiVersion = String(fieldOf(target, 'apiVersion'));
  const written = groupOf(apiVersion);
  // A group with a dot belongs to custom resources, whose groups are domains.
  if (written.includes('.')) return [];
  if (isConfigMap({ apiVersion, kind })) return checkConfigMap(target);
  if (group === undefined || written !== group) {
    return [
      finding(
        'apiVersion',
        `${kind} of ${apiVersion} cannot be updated: write one of ${Object.keys(knownKinds).join(', ')}, or a custom resource`,
      ),
    ];
  }
  if (apiVersion !== `${group}/${servedVersion}`)
    return [finding('apiVersion', `${kind} is read as ${group}/${servedVersion}: remove apiVersion`)];
  if (has(target, 'fields')) return [finding('fields', `fields are for custom resources: a ${kind} has containers, remove fields`)];
  return [];
}

/** Checks that a ConfigMap is named, with its fields: the operator names each one, and it has no containers. */
function checkConfigMap(target: unknown): Finding[] {
  if (has(target, 'selector'))
    return [finding('selector', 'a ConfigMap is named: write name instead, for the operator allows single ones')];
  return has(target, 'fields') ? [] : [finding('kind', 'a ConfigMap has no containers: say with fields where its image is')];
}

function finding(key: string, message: string): Finding {
  return { keys: [key], message, reason: 'UnsupportedTargetKind' };
}

/** The group of an API version: `apps` of `apps/v1`; empty for `v1`. */
function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** Checks that no workload, and no field of a custom resource, is named twice. This is no CEL rule, because comparing all targets exceeds the budget of CEL. */
export function checkTargetsDiffer(targets: unknown, { namespace }: CheckContext): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, number>();
  for (const [index, target] of (Array.isArray(targets) ? targets : []).entries()) {
    for (const [key, subject, keys] of claimsOf(target, namespace)) {
      const first = seen.get(key);
      if (first === undefined) seen.set(key, index);
      else findings.push({ keys: [index, ...keys], message: describe(subject, first, index) });
    }
  }
  return findings;
}

function describe(subject: string, first: number, index: number): string {
  if (first === index) return `${subject} is written twice by this target: name each field once`;
  return `${subject} is already a target, in targets[${first}]: keep one of them`;
}

/** A workload or field that a target changes: a key for comparison, a name for messages, and where the target names it. */
type Claim = [key: string, subject: string, keys: string[]];

/** The claims of a target: the workload, or single fields of it. Several targets may write different fields of one object. */
function claimsOf(target: unknown, ownNamespace: string | undefined): Claim[] {
  const kind = fieldOf(target, 'kind');
  const name = fieldOf(target, 'name');
  const selector = fieldOf(target, 'selector');
  if (typeof kind !== 'string' || (typeof name !== 'string' && !isObject(selector))) return [];
  const namespace = fieldOf(target, 'namespace') ?? ownNamespace ?? '';
  const group = has(target, 'apiVersion') ? groupOf(String(fieldOf(target, 'apiVersion'))) : (knownKinds[kind] ?? '');
  const workload = JSON.stringify([group, kind, namespace, name ?? withSortedKeys(selector)]);
  const subject = typeof name === 'string' ? `${kind} ${name}` : `${kind} with this selector`;
  const fields = fieldOf(target, 'fields');
  if (!isObject(fields)) return [[workload, subject, []]];
  return Object.entries(fields).map(([key, path]) => [`${workload} ${String(path)}`, `${String(path)} of ${subject}`, ['fields', key]]);
}

/** The value with its keys sorted. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withSortedKeys(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
