import { defined } from '../../core/model/defined.ts';
import { newestOf, type Forge } from '../commit-status.ts';

/** Gitea and Forgejo, which have no state for what is running: https://docs.gitea.com/api (repoCreateStatus) */
export const gitea: Forge = {
  id: 'giteaStatus',
  states: { pending: 'pending', running: 'pending', success: 'success', failure: 'failure' },
  authorize: (token) => `token ${token}`,
  testPath: 'repos/search?limit=1',
  listPath: ({ path, revision }) => `repos/${path}/statuses/${revision}?sort=recentupdate&limit=50`,
  readLast(json, name) {
    const last = newestOf(json, (one) => one['context'] === name);
    return last && { state: last['status'], at: last['updated_at'] ?? last['created_at'] };
  },
  postPath: ({ path, revision }) => `repos/${path}/statuses/${revision}`,
  bodyOf: ({ name, word, description, url }) => ({ state: word, context: name, description, ...defined({ target_url: url }) }),
};
