/** Policies that commands write: their names, and the YAML for `kubectl apply`. */
import { stringify } from 'yaml';
import type { Spec } from '../service/resources/v1.ts';

/** A policy for `kubectl apply`, with notes on it. */
export interface WrittenPolicy {
  readonly policy: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly spec: Spec;
  };
  readonly notes: readonly string[];
}

/** The first of the names that is free in the namespace, else the first one with a number; it is taken from then on. Names may be parts of a repository. */
export function freeName(namespace: string, wanted: readonly string[], taken: Set<string>): string {
  const isTaken = (name: string) => taken.has(`${namespace}/${name}`);
  const names = wanted.map((name) => name.replaceAll('_', '-').replaceAll(/-+/g, '-'));
  const [first = ''] = names;
  for (let number = 2; names.every(isTaken); number += 1) names.push(`${first}-${number}`);
  const name = names.find((candidate) => !isTaken(candidate)) ?? first;
  taken.add(`${namespace}/${name}`);
  return name;
}

/** YAML for `kubectl apply`: remarks as comments, then each policy after its notes. */
export function formatPolicies(policies: readonly WrittenPolicy[], remarks: readonly string[]): string {
  const documents = policies.map(({ policy, notes }) => `${comment(notes)}${stringify(policy, { lineWidth: 0 })}`);
  return [...(remarks.length === 0 ? [] : [comment(remarks)]), documents.join('---\n')].join('\n');
}

function comment(lines: readonly string[]): string {
  // A line end in a label's value must not begin a line of YAML.
  return lines.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}\n`).join('');
}
