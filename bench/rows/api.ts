import { request } from 'undici';
import { percentile } from '../world/statistics.ts';
import { startInBigCluster } from './start.ts';
import { limited, type Row } from './row.ts';

const questions = {
  'the first page': '/policies?limit=50',
  'a page of 500': '/policies?limit=500',
  'a search': '/policies?search=bulk-99',
  'a page sorted by state': '/policies?sort=state&limit=50',
  'the overview': '/overview',
};

/** What users of the API and the dashboard wait for. */
export const api: Row = {
  id: 'api',
  title:
    'Answers of the API in a cluster with 10,000 policies, asked one after the other with a token of Kubernetes: the time that 95 % do not exceed.',
  async run(world, quick) {
    const { product } = await startInBigCluster(world, quick);
    const headers = { authorization: `Bearer ${world.cluster.token}` };
    const times = new Map<string, number[]>(Object.keys(questions).map((name) => [name, []]));
    for (let round = 0; round < (quick ? 2 : 110); round++) {
      for (const [name, path] of Object.entries(questions)) {
        const start = performance.now();
        const answer = await request(`${product.operationsUrl}/api/v1${path}`, { headers });
        const text = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${text}`);
        // The first answers are of code that is not compiled yet.
        if (quick || round >= 10) times.get(name)?.push(performance.now() - start);
      }
    }
    const figures = [...times].map(([name, all]) => limited({ name, product: percentile(all, 0.95), unit: 'ms' }, { below: 50 }));
    return { figures, raw: Object.fromEntries(times) };
  },
};
