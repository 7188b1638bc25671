import { hashId } from '../../core/model/push-event.ts';
import { documentation } from '../../core/model/reasons.ts';
import { isObject } from '../../core/model/untyped.ts';
import type { Forge } from '../commit-status.ts';

/** The key of a status, which has at most 40 characters. A status that is posted again with the same key replaces the former one. */
const keyOf = (name: string) => hashId([name]).slice(0, 40);

/** Bitbucket Cloud, whose statuses need a URL: https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/ */
export const bitbucket: Forge = {
  id: 'bitbucketStatus',
  states: { pending: 'INPROGRESS', running: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' },
  authorize: (token) => `Bearer ${token}`,
  testPath: 'hook_events',
  listPath: ({ path, revision }) => `repositories/${path}/commit/${revision}/statuses?pagelen=100`,
  readLast(json, name) {
    const values = isObject(json) ? json['values'] : undefined;
    const last: unknown = Array.isArray(values) ? values.find((one) => isObject(one) && one['key'] === keyOf(name)) : undefined;
    return isObject(last) ? { state: last['state'], at: last['updated_on'] ?? last['created_on'] } : undefined;
  },
  postPath: ({ path, revision }) => `repositories/${path}/commit/${revision}/statuses/build`,
  bodyOf: ({ name, word, description, url = `${documentation}/notifications.md` }) => ({
    key: keyOf(name),
    state: word,
    name,
    description,
    url,
  }),
};
