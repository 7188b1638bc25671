/** `history --at`: what ran at a time, by the record of the service or by a kept one. */
import { defined } from '../../core/model/defined.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { formatSubject } from '../../core/model/notice.ts';
import { activityEntry, type ActivityEntry } from '../../service/api/activity-view.ts';
import { instantParam } from '../../service/api/route.ts';
import { type ApiTarget, findPolicyName, withApi } from '../../service/command-line/api-client.ts';
import { type Terminal, UsageError } from '../../service/command-line/command.ts';
import { print } from '../../service/command-line/output.ts';
import { readPolicyName } from '../../service/command-line/policy-name.ts';
import { printable } from '../../service/command-line/printable.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { linesOf, readLine } from '../record/chain.ts';
import { readPieces, type RecordSource } from '../record/read-pieces.ts';
import { collectStates, type StateThen } from '../state-at.ts';
import { readHistory } from './read-history.ts';
import { recordCommand } from './record-command.ts';

/** The policies that are asked for; all without a filter. */
interface WantedPolicies {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface StatesAt extends RecordSource, ApiTarget {
  readonly at: string;
  readonly policy: string | undefined;
  readonly namespace?: string | undefined;
  readonly output?: 'text' | 'json' | 'yaml' | undefined;
}

/** Shows the states at a time: by the service, or by the record that a configuration or a file has. */
export async function showStates(values: StatesAt, terminal: Terminal): Promise<number> {
  const { policy, namespace } = values;
  const at = readInstant(values.at);
  const show = (states: readonly StateThen[]) => {
    print(terminal, values.output, states, () =>
      states.length === 0 ? 'the record has no change of a policy before this time\n' : states.map(describeState).join(''),
    );
    return 0;
  };
  if ((values.file ?? values.config) === undefined) return withApi(terminal, async () => show(await askStates(values, at, terminal)));
  return recordCommand(terminal, async (signal) => {
    const wanted = policy === undefined ? defined({ namespace }) : readPolicyName(policy, namespace);
    return show(await readStates(values, at, wanted, signal));
  });
}

async function askStates(values: StatesAt, at: number, terminal: Terminal): Promise<StateThen[]> {
  const { policy, namespace } = values;
  const filter = {
    ...(policy === undefined ? defined({ namespace }) : { policy: policyKey(await findPolicyName(policy, values)) }),
    until: new Date(at).toISOString(),
  };
  const progress = startProgress(terminal, 'reading the record …');
  const readAll = (type: 'change' | 'action') =>
    readHistory(
      values,
      { ...filter, type },
      { limit: Infinity, onRead: (count) => progress.update(`reading the record: ${type} ${count}`) },
    );
  const [changes, actions] = await Promise.all([readAll('change'), readAll('action')]).finally(progress.stop);
  return statesOf(
    [...changes, ...actions].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)),
    at,
  );
}

/** Reads a time such as 2026-11-24T14:00:00Z; throws UsageError. */
function readInstant(text: string): number {
  const { data } = instantParam.safeParse(text);
  if (data === undefined) throw new UsageError(`--at is a time such as 2026-03-01T12:00:00Z, not "${text}"`);
  return data;
}

/** The states by the entries of the service, which are the newest first. */
function statesOf(entries: readonly ActivityEntry[], at: number): StateThen[] {
  const { add, states } = collectStates(at);
  for (const entry of entries.toReversed()) add(entry);
  return states();
}

/** The states by a kept record. Lines that are none are left out: `history verify` names them. */
async function readStates(source: RecordSource, at: number, wanted: WantedPolicies, signal: AbortSignal): Promise<StateThen[]> {
  const { add, states } = collectStates(at);
  for await (const { text } of readPieces(source, signal)) {
    for (const line of linesOf(text).lines.map(readLine)) {
      const entry = line && activityEntry.safeParse({ ...line.data, id: line.id }).data;
      if (entry !== undefined) add(entry);
    }
  }
  const { namespace, name } = wanted;
  return states().filter((one) => (namespace === undefined || one.namespace === namespace) && (name === undefined || one.name === name));
}

/** A state as lines: what ran since when, and below it what was last. */
function describeState(state: StateThen): string {
  const { image, workloads = [], last, suspended } = state;
  const runs =
    image === undefined ? 'no change of its image before' : `${image.tag ?? image.base ?? image.digest ?? '?'}  since ${image.since}`;
  const first = [formatSubject({ ...defined({ namespace: state.namespace }), name: state.name }), runs, ...workloads].join('  ');
  const cause = [last.reason, last.message].filter(Boolean).join(': ');
  const then = `    ${last.kind} ${last.at}${cause === '' ? '' : `: ${cause}`}${suspended ? ' (suspended)' : ''}`;
  return [first, then].map((line) => `${printable(line)}\n`).join('');
}
