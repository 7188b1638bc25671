import { defined } from '../../core/model/defined.ts';
import { activityReads, type ActivityEntry } from '../../service/api/activity-view.ts';
import { type ApiTarget, callApi } from '../../service/command-line/api-client.ts';
import { ApiError } from '../../service/command-line/api-error.ts';

/** Reads the record of the service page by page, the newest entries first. A page may have fewer entries than asked for. */
export async function readHistory(
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
