import { stringify } from 'yaml';
import type { KeelImport } from './convert-all.ts';

/** YAML for `kubectl apply`: what was not carried over as comments, then each policy after what there is to know of it. */
export function formatImport({ policies, skipped }: KeelImport): string {
  const notCarriedOver = comment(skipped.map(({ workload, problem }) => `Not carried over: ${workload}: ${problem}`));
  const documents = policies.map(({ policy, notes }) => `${comment(notes)}${stringify(policy, { lineWidth: 0 })}`);
  return [...(notCarriedOver === '' ? [] : [notCarriedOver]), documents.join('---\n')].join('\n');
}

function comment(lines: readonly string[]): string {
  // A line end in a label's value must not begin a line of YAML.
  return lines.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}\n`).join('');
}
