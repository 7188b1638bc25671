/** The command `history`: the record of activity in a terminal. */
import { defined } from '../../core/model/defined.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { parseDuration } from '../../core/model/text.ts';
import { activityReads, activityTypes, type ActivityEntry } from '../../service/api/activity-view.ts';
import { apiOptions, type ApiTarget, callApi, findPolicyName, withApi } from '../../service/command-line/api-client.ts';
import { ApiError } from '../../service/command-line/api-error.ts';
import { defineCommand, UsageError, type Values } from '../../service/command-line/command.ts';
import { countOf, outputOption, print } from '../../service/command-line/output.ts';
import { policyOptions } from '../../service/command-line/policy-client.ts';
import { printable } from '../../service/command-line/printable.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { describeEntry } from './describe-entry.ts';
import { summaries } from './summaries.ts';

const options = {
  limit: { value: 'NUMBER', about: 'how many (default 50; with --since all)' },
  since: { value: 'DURATION', about: 'in the last 90s, 10m or 1h' },
  type: { value: 'TYPE', choices: activityTypes, about: activityTypes.join(', ') },
  user: { value: 'NAME', about: 'what this user asked for' },
  namespace: policyOptions.namespace,
  ...apiOptions,
  ...outputOption,
} as const;

export const history = defineCommand({
  name: 'history',
  summary: summaries.history,
  about: 'Shows pushes, what image-watcher did, and what people asked for, the newest first.',
  arguments: [{ name: 'POLICY', about: 'NAMESPACE/NAME or ipol/NAME of a policy', completes: 'policy' }],
  options,
  examples: [
    ['history shop/web --since 24h', 'the last day of a policy'],
    ['history --type action', 'who asked for what'],
  ],
  run(values, [policy], terminal) {
    const { limit, since } = readBounds(values);
    return withApi(terminal, async () => {
      const query = {
        ...defined({ type: values.type, user: values.user, namespace: policy === undefined ? values.namespace : undefined }),
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

/** Reads page by page. A page may have fewer entries than asked for. */
async function readHistory(
  target: ApiTarget,
  query: Readonly<Record<string, string>>,
  { limit, onRead }: { readonly limit: number; readonly onRead: (count: number) => void },
): Promise<ActivityEntry[]> {
  const found: ActivityEntry[] = [];
  for (let before: string | undefined; found.length < limit;) {
    const size = String(Math.min(limit - found.length, 500));
    const search = new URLSearchParams({ ...query, limit: size, ...defined({ before }) });
    const { data: page } = activityReads.list.answer.safeParse(
      await callApi(target, 'GET', `/api/v1${activityReads.list.path}?${search.toString()}`),
    );
    if (page === undefined)
      throw new ApiError('the service answers in a form that this command does not know: use the command of its version');
    found.push(...page.activity);
    onRead(found.length);
    if (page.next === undefined) break;
    before = page.next;
  }
  return found;
}
