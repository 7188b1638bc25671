import { verifyAuthorizationHeader } from './headers.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';

/**
 * Huawei Cloud SWR, enterprise edition. Its webhook API resembles Harbor's. Its payload is not documented; we assume Harbor's Default format.
 */
export const huawei: Provider = {
  id: 'huawei',
  documentation: 'https://support.huaweicloud.com/api-swr2/swr_03_0901.html',
  verify: verifyAuthorizationHeader,
  parse: (delivery) => harbor.parse(delivery),
};
