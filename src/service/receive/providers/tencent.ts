import { verifyAnyHeader } from './headers.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';

/** Tencent Container Registry, enterprise edition: the format of Harbor 1.x, authenticated by a header that the user defines. */
export const tencent: Provider = {
  id: 'tencent',
  documentation: 'https://cloud.tencent.com/document/product/1141/44369',
  verify: verifyAnyHeader,
  parse: (delivery) => harbor.parse(delivery),
};
