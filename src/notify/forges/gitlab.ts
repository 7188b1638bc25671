import { defined } from '../../core/model/defined.ts';
import { newestOf, type Forge } from '../commit-status.ts';
import type { Commit } from '../forge-report.ts';

/** A project by its path, whose slashes are encoded: https://docs.gitlab.com/api/rest/#namespaced-paths */
const project = ({ path }: Commit) => `projects/${path.replaceAll('/', '%2F')}`;

/** GitLab: https://docs.gitlab.com/api/commits/#commit-status */
export const gitlab: Forge = {
  id: 'gitlabStatus',
  nested: true,
  states: { pending: 'pending', running: 'running', success: 'success', failure: 'failed' },
  authorize: (token) => `Bearer ${token}`,
  testPath: 'version',
  listPath: (commit, name) =>
    `${project(commit)}/repository/commits/${commit.revision}/statuses?${new URLSearchParams({ name, per_page: '100' }).toString()}`,
  readLast(json, name) {
    const last = newestOf(json, (one) => one['name'] === name);
    return last && { state: last['status'], at: last['finished_at'] ?? last['created_at'] };
  },
  postPath: (commit) => `${project(commit)}/statuses/${commit.revision}`,
  bodyOf: ({ name, word, description, url }) => ({ state: word, name, description, ...defined({ target_url: url }) }),
  // GitLab answers 400 "Cannot transition status" to a state that it has already, and to pending after running.
  refuses: (last, word) => (last === 'running' ? word === 'running' || word === 'pending' : last === 'pending' && word === 'pending'),
};
