import { z } from 'zod';
import { filled, fromUnixSeconds, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Provider } from './provider.ts';
import { provesNothing } from './headers.ts';

const event = z.object({
  push_data: z.object({ tag: text, pushed_at: z.unknown().optional(), media_type: text }),
  repository: z.object({ repo_name: text, namespace: text, name: text, repo_full_name: text, region: text }),
});

/** Docker Hub's webhooks. The `callback_url` of the payload is never called, because anybody who can send a request can choose it. */
export const dockerHub: Provider = {
  id: 'docker-hub',
  documentation: 'https://docs.docker.com/docker-hub/repos/manage/webhooks/',
  verify: provesNothing,
  parse(delivery) {
    const { push_data: push, repository } = parseJsonBody(event, delivery.body);
    const path = pathOf(repository);
    if (!path) return toParsedDelivery([{ code: 'Incomplete', reason: 'the event names no repository of Docker Hub' }]);
    const pushedAt = fromUnixSeconds(push.pushed_at);
    const image = { registry: 'docker.io', repository: path, ...filled({ tag: push.tag, configMediaType: push.media_type, pushedAt }) };
    return toParsedDelivery([image]);
  },
};

/** The path of the repository; undefined for payloads of Alibaba's registry, which are nearly the same but name other repositories. */
function pathOf({
  repo_name: full,
  namespace,
  name,
  repo_full_name: other,
  region,
}: z.output<typeof event>['repository']): string | undefined {
  if (full) return full;
  return namespace && name && !other && !region ? `${namespace}/${name}` : undefined;
}
