/** What `image-watcher consents` prints: a row for each pair of a policy's namespace and a workload of another one. */
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { defined } from '../../core/model/defined.ts';
import { formatWorkload, type WorkloadRef } from '../../core/model/workload.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { print } from '../../service/command-line/output.ts';

/**
 * A row of the output. granted: the owners consent · missing: there is no consent annotation · refused: there is one without this namespace · written: it was
 * added now · failed: it could not be read or written.
 */
export interface ConsentRow {
  readonly policyNamespace: string;
  readonly policies: readonly string[];
  readonly target: WorkloadRef;
  readonly state: 'granted' | 'missing' | 'refused' | 'written' | 'failed';
  /** The consent annotation, and where it is. */
  readonly answer?: { readonly on: 'target' | 'Namespace'; readonly value: string };
  readonly message?: string;
}

/** Prints the rows, with their counts and what to do about them. */
export function printConsents(
  { rows, leftOut }: { rows: readonly ConsentRow[]; leftOut: number },
  output: 'text' | 'json' | 'yaml' | undefined,
  terminal: Terminal,
): void {
  const count = (state: ConsentRow['state']) => rows.filter((row) => row.state === state).length;
  const plain = rows.map(({ policyNamespace, policies, target, state, answer, message }) => ({
    policyNamespace,
    policies,
    target,
    state,
    ...defined({ answer, message }),
  }));
  print(terminal, output, { consents: plain, leftOut }, () => {
    const lines = rows.map(
      (row) =>
        `${row.state.padEnd(8)} ${row.policyNamespace} (${row.policies.join(', ')}) -> ${formatWorkload(row.target)}${detailOf(row)}`,
    );
    const states = (['granted', 'written', 'missing', 'refused', 'failed'] as const).filter((state) => count(state) > 0);
    const summary =
      rows.length === 0
        ? 'no policy has a target in another namespace that runs an image of it'
        : states.map((state) => `${count(state)} ${state}`).join(', ');
    const hint = count('missing') > 0 ? ': --apply --from NAMESPACE writes what policies of that namespace miss' : '';
    const others =
      leftOut === 0 ? [] : [`${leftOut} left out, where the workload runs no image of the policy's repository: no consent is needed`];
    return `${[...lines, summary + hint, ...others].join('\n')}\n`;
  });
}

function detailOf({ state, answer, message, policyNamespace }: ConsentRow): string {
  if (message !== undefined) return `: ${message}`;
  if (state === 'missing' && answer === undefined) return `: nobody has answered; ${consentAnnotation}: "${policyNamespace}" is missing`;
  const said = answer === undefined ? '' : `: its ${answer.on === 'target' ? 'annotation' : 'Namespace'} says "${answer.value}"`;
  return state === 'refused' ? `${said}, which is left alone` : said;
}
