/** Writes policies as YAML for `kubectl apply`, and finds names for them. */
import { stringify } from 'yaml';
import type { Spec } from '../resources/v1.ts';
import { printable } from './printable.ts';

/** A policy for `kubectl apply`, with notes on it. */
export interface WrittenPolicy<S = Spec> {
  readonly policy: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly spec: S;
  };
  readonly notes: readonly string[];
}

/** The first of the names that is free in the namespace, else the first one with a number. The result counts as taken. Names may be parts of a repository. */
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
export function formatPolicies(policies: readonly WrittenPolicy<unknown>[], remarks: readonly string[]): string {
  const documents = policies.map(({ policy, notes }) => `${comment(notes)}${stringify(policy, { lineWidth: 0 })}`);
  return [...(remarks.length === 0 ? [] : [comment(remarks)]), documents.join('---\n')].join('\n');
}

function comment(lines: readonly string[]): string {
  // Line ends are replaced: none in a label's value must begin a line of YAML, nor U+0085, which ends a line for kubectl.
  return lines.map((line) => `# ${printable(line.replaceAll(/\s+/g, ' '))}\n`).join('');
}
