/** The command `history`: the record of activity in a terminal. */
import { defined } from '../../core/model/defined.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { parseDuration } from '../../core/model/text.ts';
import { eventOutcomes } from '../../service/api/event-view.ts';
import { activityTypes, type ActivityEntry } from '../../service/api/activity-view.ts';
import { apiOptions, findPolicyName, withApi } from '../../service/command-line/api-client.ts';
import { defineCommand, type Terminal, UsageError, type Values } from '../../service/command-line/command.ts';
import { countOf, outputOption, print } from '../../service/command-line/output.ts';
import { policyOptions } from '../../service/command-line/policy-client.ts';
import { readRecordFilters, recordFilters } from '../../service/command-line/record-filters.ts';
import { printable } from '../../service/command-line/printable.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { withCommands } from '../../service/command-line/with-commands.ts';
import { recordOptions } from '../record/read-pieces.ts';
import { describeEntry } from './describe-entry.ts';
import { showStates } from './history-at.ts';
import { historyVerify } from './history-verify.ts';
import { readHistory } from './read-history.ts';
import { summaries } from './summaries.ts';

const options = {
  limit: { value: 'NUMBER', about: 'how many (default 50; with --since all)' },
  since: { value: 'DURATION', about: 'in the last 90s, 10m or 1h' },
  type: { value: 'TYPE', choices: activityTypes, about: activityTypes.join(', ') },
  user: { value: 'NAME', about: 'what this user asked for' },
  outcome: { value: 'OUTCOME', choices: eventOutcomes, about: 'pushes with this outcome' },
  ...recordFilters,
  at: { value: 'TIME', about: 'a time such as 2026-11-24T14:00:00Z' },
  namespace: policyOptions.namespace,
  'all-namespaces': { short: 'A', about: 'all namespaces (default)' },
  ...recordOptions,
  ...apiOptions,
  ...outputOption,
} as const;

const list = defineCommand({
  name: 'history',
  summary: summaries.history,
  about:
    'Shows pushes, what image-watcher did, and what people asked for, the newest first. With --at: what each policy had then, by the service or, with --file or --config, by the kept record.',
  arguments: [{ name: 'POLICY', about: 'NAMESPACE/NAME or ipol/NAME of a policy', completes: 'policy' }],
  options,
  examples: [
    ['history shop/web --since 24h', 'the last day of a policy'],
    ['history --type action', 'who asked for what'],
    ['history --at 2026-11-24T14:00:00Z -A', 'what ran at that time'],
  ],
  run(values, [policy], terminal) {
    const { limit, since } = readBounds(values);
    if (values['all-namespaces'] && (values.namespace ?? policy) !== undefined)
      throw new UsageError('--all-namespaces goes without --namespace and without a policy');
    if (values.at !== undefined) return showStatesAt(values, values.at, policy, terminal);
    if ((values.file ?? values.config) !== undefined) throw new UsageError('--file and --config need --at');
    return withApi(terminal, async () => {
      const query = {
        ...readRecordFilters(values),
        ...defined({
          type: values.type,
          user: values.user,
          outcome: values.outcome,
          namespace: policy === undefined ? values.namespace : undefined,
        }),
        ...(policy !== undefined && { policy: policyKey(await findPolicyName(policy, values)) }),
        ...(since !== undefined && { since: new Date(Date.now() - since).toISOString() }),
      };
      const progress = startProgress(terminal, 'reading the record …');
      const onRead = (count: number) => progress.update(`reading the record: ${countOf(count, 'entry', 'entries')}`);
      const found = await readHistory(values, query, { limit, onRead }).finally(progress.stop);
      print(terminal, values.output, found, () =>
        found.length === 0 ? 'nothing happened\n' : found.map((one) => `${describe(one)}\n`).join(''),
      );
      return 0;
    });
  },
});

export const history = withCommands(list, [historyVerify]);

function showStatesAt(values: Values<typeof options>, at: string, policy: string | undefined, terminal: Terminal): Promise<number> {
  const { limit, since, type, user, outcome, until, digest, receiver, label } = values;
  if ([limit, since, type, user, outcome, until, digest, receiver, label].some((value) => value !== undefined))
    throw new UsageError('--at goes without filters such as --since and --user');
  return showStates({ ...values, at, policy }, terminal);
}

const describe = (entry: ActivityEntry) =>
  describeEntry(entry)
    .map((line) => printable(line))
    .join('\n');

function readBounds({ limit, since }: Values<typeof options>): { readonly limit: number; readonly since: number | undefined } {
  const count = limit === undefined ? undefined : Number(limit);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 500))
    throw new UsageError('--limit is a number from 1 to 500');
  const sinceMs = since === undefined ? undefined : parseDuration(since);
  if (since !== undefined && sinceMs === undefined) throw new UsageError(`--since is a duration such as 90s, 10m or 1h, not "${since}"`);
  return { limit: count ?? (sinceMs === undefined ? 50 : Number.POSITIVE_INFINITY), since: sinceMs };
}
