import { z } from 'zod';
import { filled, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Provider } from './provider.ts';
import { provesNothing } from './headers.ts';

const notification = z.object({
  push_data: z.object({ digest: text, tag: text }),
  repository: z.object({ repo_full_name: text, namespace: text, name: text, region: text }),
});

/** Alibaba Cloud Container Registry. */
export const aliyun: Provider = {
  id: 'aliyun',
  documentation: 'https://help.aliyun.com/zh/acr/user-guide/manage-webhooks',
  verify: provesNothing,
  parse(delivery) {
    const { push_data: push, repository } = parseJsonBody(notification, delivery.body);
    const name = repository.repo_full_name || (repository.namespace && repository.name && `${repository.namespace}/${repository.name}`);
    if (!name) return toParsedDelivery([{ code: 'Incomplete', reason: 'the event names no repository' }]);
    const registry = personalEdition(repository.region);
    return toParsedDelivery([{ repository: name, ...filled({ registry, tag: push.tag, digest: push.digest }) }]);
  },
};

/** The host of the personal edition, which the region determines because the body contains none. For an enterprise instance, `registry` must be set. */
function personalEdition(region: string | null | undefined): string | undefined {
  return region && /^[a-z]{2,}(?:-[a-z0-9]+)+$/.test(region) ? `registry.${region}.aliyuncs.com` : undefined;
}
