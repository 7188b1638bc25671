import { verifyAuthorizationHeader } from './headers.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';

/**
 * Huawei Cloud SWR, enterprise edition. Its API for webhooks is shaped like Harbor's; what it sends is not documented, and
 * is assumed to be Harbor's Default format.
 */
export const huawei: Provider = {
  id: 'huawei',
  documentation: 'https://support.huaweicloud.com/api-swr2/swr_03_0901.html',
  verify: verifyAuthorizationHeader,
  parse: (delivery) => harbor.parse(delivery),
};
