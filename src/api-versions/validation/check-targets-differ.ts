import { fieldOf, has, isDraft, type CheckContext, type Finding } from '../rules.ts';
import { groupOf, knownKinds } from './check-target-kind.ts';

/** No workload is named twice, and no field of a custom resource. Not in CEL: comparing all targets is beyond its budget. */
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
  return `${subject} is a target already, in targets[${first}]: keep one of them`;
}

type Claim = [key: string, subject: string, keys: string[]];

/** What a target changes: the workload, or single fields of it (several targets may write different fields of one object). */
function claimsOf(target: unknown, ownNamespace: string | undefined): Claim[] {
  const kind = fieldOf(target, 'kind');
  const name = fieldOf(target, 'name');
  const selector = fieldOf(target, 'selector');
  if (typeof kind !== 'string' || (typeof name !== 'string' && !isDraft(selector))) return [];
  const namespace = fieldOf(target, 'namespace') ?? ownNamespace ?? '';
  const group = has(target, 'apiVersion') ? groupOf(String(fieldOf(target, 'apiVersion'))) : (knownKinds[kind] ?? '');
  const workload = JSON.stringify([group, kind, namespace, name ?? normal(selector)]);
  const subject = typeof name === 'string' ? `${kind} ${name}` : `${kind} with this selector`;
  const fields = fieldOf(target, 'fields');
  if (!isDraft(fields)) return [[workload, subject, []]];
  return Object.entries(fields).map(([key, path]) => [`${workload} ${String(path)}`, `${String(path)} of ${subject}`, ['fields', key]]);
}

/** The same value in one order of keys. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (!isDraft(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, normal(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
