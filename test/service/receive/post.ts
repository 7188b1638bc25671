/** A delivery of Harbor, and what is counted of deliveries. */
import { digestOf } from '../../core/model/samples.ts';
import type { TestApp } from './start-app.ts';

export const digest = digestOf('a');
export const push = (tag = '1.2.3') => ({
  type: 'PUSH_ARTIFACT',
  occur_at: 1_700_000_000,
  event_data: {
    resources: [{ digest, tag, resource_url: `Harbor.example.com:443/Shop/web:${tag}` }],
    repository: { repo_full_name: 'Shop/web' },
  },
});

interface Post {
  readonly url?: string;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export function post({ app }: TestApp, { url = '/webhooks/prod', body = JSON.stringify(push()), headers = {} }: Post = {}) {
  return app.inject({
    method: 'POST',
    url,
    body,
    headers: { authorization: 'Bearer s3cret', 'content-type': 'application/json', ...headers },
  });
}

export async function countOf(
  { metrics }: TestApp,
  name: 'deliveries' | 'pushes' | 'ignoredPushes' | 'rejectedDeliveries',
): Promise<Record<string, number>> {
  const { values } = await metrics[name].get();
  return Object.fromEntries(
    values.map(({ labels, value }) => {
      const { status, result, reason, kind } = labels as Record<string, unknown>;
      return [String(status ?? result ?? reason ?? kind), value];
    }),
  );
}
